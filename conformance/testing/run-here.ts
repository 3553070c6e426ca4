import path from "node:path";
import { start } from "../../commands/program.ts";
import { root, type Measured } from "./measure.ts";

/**
 * Runs the command line in this process, for tests of what a command does rather than how its process starts, is
 * interrupted or ends. It gets the environment with the given overrides, and no terminal.
 */
export const runHere = async (
  parameters: readonly string[],
  {
    env = {},
    interruptAt,
  }: {
    readonly env?: NodeJS.ProcessEnv;
    /** Interrupts the command once standard error says this. */
    readonly interruptAt?: string | RegExp;
  } = {},
): Promise<Pick<Measured, "exitCode" | "stdout" | "stderr">> => {
  let [stdout, stderr] = ["", ""];
  const { ended, interruption } = start({
    given: parameters,
    environment: { ...process.env, FORCE_COLOR: undefined, ...env },
    streams: {
      stdout: { write: (text: string | Uint8Array) => ((stdout += String(text)), true), columns: 100 },
      stderr: {
        write: (text: string | Uint8Array) => {
          stderr += String(text);
          if (interruptAt !== undefined && stderr.search(interruptAt) >= 0) interruption.abort();
          return true;
        },
      },
    },
    programFile: path.join(root, "cli.ts"),
  });
  const exitCode = await ended;
  return { exitCode, stdout, stderr };
};
