import { mistaken, skipped, type Check } from "../contract/check.ts";
import { duration } from "../contract/duration.ts";
import { stopwatch, type Clock } from "../world/clock.ts";
import { HookError } from "../world/hooks/hooks.ts";
import type { Session } from "./session.ts";

const CHECK = "hooks.clock.advance";
const PROBE_ADVANCE_MS = 2_000;
/** A hook slower than this makes a gate take minutes. */
const SLOW_MS = 300;
/** Approximate number of clock moves in a gate. */
const MOVES = 140;

/** Checks that the clock hooks read and move a clock, by moving it two seconds. */
export const checkClock = async (session: Session, clock: Clock): Promise<Check[]> => {
  const hooks = session.resolved.profile.hooks?.clock;
  if (hooks?.faketime !== undefined) return [];
  if (hooks?.advance === undefined)
    return [
      skipped(
        CHECK,
        "not in the profile: lifetimes are waited for in real time, and rules that take too long are not judged",
        "add `hooks.clock.advance` (and `hooks.clock.now`) if the target's clock can be moved, or `hooks.clock.faketime` if the service runs under libfaketime",
      ),
    ];
  try {
    const before = await clock.now();
    const elapsedMs = stopwatch();
    await clock.sleep(PROBE_ADVANCE_MS);
    const tookMs = elapsedMs();
    const after = await clock.now();
    const asked = duration(PROBE_ADVANCE_MS);
    const moved = `moved the target's clock by ${duration(after.latestMs - before.earliestMs)} when asked for ${asked}`;
    const cost =
      tookMs < SLOW_MS ? "" : `, which took ${duration(tookMs)}: a gate does so about ${MOVES} times`;
    const message = `${hooks.now === undefined ? `answered when asked to move the clock by ${asked}` : moved}${cost}`;
    return [
      { check: CHECK, ok: true, message },
      hooks.now === undefined
        ? skipped(
            "hooks.clock.now",
            "not in the profile: the target's time is estimated from what was advanced, and intervals are wider",
            "add `hooks.clock.now`",
          )
        : { check: "hooks.clock.now", ok: true, message: "returns the target's time" },
    ];
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return [failedHook(error)];
  }
};

export const failedHook = ({ key, message, end }: HookError): Check =>
  mistaken(
    key,
    message.replace(`${key}: `, ""),
    end?.kind === "lost" && end.reason === "timeout"
      ? `if it is only slow, give it more time: \`timeoutMs\` of the hook, in milliseconds; otherwise call it by hand and see what it waits for`
      : key === "hooks.clock.faketime"
        ? "then start the run again"
        : "call the hook by hand and compare; or leave it out of the profile",
  );
