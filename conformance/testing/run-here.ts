import path from "node:path";
import { start, type Running } from "../../commands/program.ts";
import { root, type Measured } from "./measure.ts";
import { environmentWith } from "./start-cli.ts";

/**
 * Starts the command line in this process, for tests of what a command does rather than how its process starts, is
 * interrupted or ends. It gets the environment with the given overrides, and no terminal; `hear` gets what it prints.
 */
export const startHere = (
  parameters: readonly string[],
  env: NodeJS.ProcessEnv,
  hear: (text: string, stream: "stdout" | "stderr") => void,
): Running => {
  const stream = (name: "stdout" | "stderr") => ({
    write: (text: string | Uint8Array) => (hear(String(text), name), true),
    columns: 100,
  });
  return start({
    given: parameters,
    environment: environmentWith(env),
    streams: { stdout: stream("stdout"), stderr: stream("stderr") },
    programFile: path.join(root, "cli.ts"),
  });
};

/** Runs the command line in this process to its end. `interruptAt` interrupts it once it says this. */
export const runHere = async (
  parameters: readonly string[],
  {
    env = {},
    interruptAt,
  }: { readonly env?: NodeJS.ProcessEnv; readonly interruptAt?: string | RegExp } = {},
): Promise<Pick<Measured, "exitCode" | "stdout" | "stderr">> => {
  const said = { stdout: "", stderr: "" };
  const { ended, interruption } = startHere(parameters, env, (text, stream) => {
    said[stream] += text;
    if (interruptAt !== undefined && said[stream].search(interruptAt) >= 0) interruption.abort();
  });
  return { exitCode: await ended, ...said };
};
