import { execFile, type ExecFileException } from "node:child_process";

interface Ended {
  /** Null if it succeeded. */
  readonly error: ExecFileException | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program until it ends, or until the signal kills it. One that cannot be started ends with the reason as its
 * error.
 */
export const runProgram = (
  [program = "", ...parameters]: readonly string[],
  signal: AbortSignal,
  input = "",
): Promise<Ended> =>
  new Promise<Ended>((resolve) => {
    const options = { killSignal: "SIGKILL", signal } as const;
    const child = execFile(program, parameters, options, (error, stdout, stderr) =>
      resolve({ error, stdout, stderr }),
    );
    // A program that reads nothing may have exited by now.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    // Processes started by the program may live on and hold its output open; do not wait for them.
    signal.addEventListener("abort", () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    });
    // Node reports some of the reasons for which nothing starts by an event, and throws the others.
  }).catch((error: ExecFileException) => ({ error, stdout: "", stderr: "" }));
