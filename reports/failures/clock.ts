/** The part of the script that lets time pass, where the script runs. */
export const time = String.raw`
/** A service whose clock is moved by a command runs through such gaps by itself, and one in real time does at once. */
const WORTH_MOVING_MS = 20;
const WORTH_WAITING_MS = 400;

/** Lets time pass up to a moment of the history: by the command if there is one, or else by waiting. */
const clockOf = () => {
  const command = process.env["ADVANCE_COMMAND"];
  const beganMs = performance.now();
  let movedMs = 0;
  return async (untilMs) => {
    if (command === undefined) {
      const leftMs = untilMs - (performance.now() - beganMs);
      if (leftMs < WORTH_WAITING_MS) return;
      say("  waiting " + (leftMs / 1_000).toFixed(1) + " s; ADVANCE_COMMAND would move the service's clock instead");
      await sleep(leftMs);
    } else {
      const leftMs = Math.ceil(untilMs - movedMs);
      if (leftMs < WORTH_MOVING_MS) return;
      const moved = spawnSync(command, { shell: true, env: { ...process.env, MS: String(leftMs) }, encoding: "utf8" });
      if (moved.status !== 0) throw new CannotRun("ADVANCE_COMMAND failed: " + moved.stderr);
      movedMs += leftMs;
    }
  };
};
`;
