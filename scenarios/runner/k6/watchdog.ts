import { spawn } from "node:child_process";

/** Waits until its input ends, which it does when its starter is gone, however that went; then ends the process that it was told of and tidies up. */
const script = `
pid=
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -INT "$pid"
  tries=0
  while [ $tries -lt 50 ] && kill -0 "$pid"; do sleep 0.1; tries=$((tries + 1)); done
  kill -KILL "$pid"
fi
rm -rf -- "$1"
`;

export interface Watchdog {
  /** The process that must not outlive this one. */
  readonly guard: (pid: number) => void;
  readonly callOff: () => void;
}

/**
 * Guards a folder with secrets in it, and a process that must not outlive this one: a load that
 * nobody listens to would go on hitting the service until its planned end. Where this process is
 * killed, a shell that it left behind interrupts the other, and removes the folder. To be started
 * before the process is, so that there is no moment at which nobody would.
 */
export const watchdog = (folder: string): Watchdog => {
  const shell = spawn("sh", ["-c", script, "sh", folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell there is no guard, which is no reason not to run.
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  shell.unref();
  return {
    guard: (pid) => void shell.stdin.write(`${pid}\n`),
    callOff: () => shell.kill("SIGKILL"),
  };
};
