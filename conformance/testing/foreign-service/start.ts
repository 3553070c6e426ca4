import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ForeignService {
  readonly baseUrl: string;
  readonly controlUrl: string;
  /** Ends the process by SIGTERM and returns its exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts the service as its own process. Rejects if it ends before it listens. */
export const startForeignService = async (files: {
  readonly store: string;
  readonly clients: string;
}): Promise<ForeignService> => {
  const program = fileURLToPath(new URL("main.ts", import.meta.url));
  const child = spawn(process.execPath, [program, "--store", files.store, "--clients", files.clients], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const line = once(createInterface(child.stdout), "line") as Promise<[string]>;
  const first = await Promise.race([line, ended]);
  if (typeof first[0] !== "string") throw new Error(`the service ended at once, with code ${first[0]}`);
  const { baseUrl, controlUrl } = JSON.parse(first[0]) as { baseUrl: string; controlUrl: string };
  return {
    baseUrl,
    controlUrl,
    stop: async () => {
      child.kill("SIGTERM");
      return (await ended)[0];
    },
  };
};
