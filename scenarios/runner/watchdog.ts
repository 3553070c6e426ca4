import { spawn } from "node:child_process";

/**
 * Waits until its input ends, which happens when its starter is gone for any reason; then ends the guarded process and
 * cleans up.
 */
const script = `
target=
while read -r signal one; do by=$signal; target=$one; done
if [ -n "$target" ]; then
  kill -s "$by" -- "$target"
  tries=0
  while [ $tries -lt 50 ] && kill -s 0 -- "$target"; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL -- "$target"
fi
[ -z "$1" ] || rm -rf -- "$1"
`;

export type Watchdog = ReturnType<typeof watchdog>;

/**
 * Guards a process that must not outlive this one, such as a load that would continue without its runner, and
 * optionally a folder with secrets. If this process is killed, a shell left behind signals the guarded process, kills
 * it after five seconds, and removes the folder. Start it before the process to guard.
 */
export const watchdog = (folder = "") => {
  const shell = spawn("sh", ["-c", script, "sh", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell there is no guard, which is no reason not to run.
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  shell.unref();
  return {
    /**
     * The process that must not outlive this one, and the signal that ends it in order; a negative id means a process
     * group.
     */
    guard: (pid: number, by: "INT" | "TERM"): void => void shell.stdin.write(`${by} ${pid}\n`),
    callOff: () => shell.kill("SIGKILL"),
  };
};

/** Signals a whole process group; does nothing if it is gone. */
export const killGroup = (pid: number | undefined, by: NodeJS.Signals): void => {
  try {
    if (pid !== undefined) process.kill(-pid, by);
  } catch {
    // It has already ended.
  }
};
