import { spawn } from "node:child_process";

/** Waits until its input ends, which it does when its starter is gone, however that went; then ends the process and tidies up. */
const script = `
while read -r _; do :; done
kill -INT "$1"
tries=0
while [ $tries -lt 50 ] && kill -0 "$1"; do sleep 0.1; tries=$((tries + 1)); done
kill -KILL "$1"
rm -rf -- "$2"
`;

/**
 * Guards a process that must not outlive this one: a load that nobody listens to would go on
 * hitting the service until its planned end. Where this process is killed, a shell that it left
 * behind interrupts the other, and removes its folder with the secrets in it.
 */
export const watchdog = (pid: number, folder: string): { readonly callOff: () => void } => {
  const shell = spawn("sh", ["-c", script, "sh", String(pid), folder], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without a shell there is no guard, which is no reason not to run.
  shell.on("error", () => undefined);
  shell.stdin.on("error", () => undefined);
  shell.unref();
  return { callOff: () => shell.kill("SIGKILL") };
};
