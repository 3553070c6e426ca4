import { fileURLToPath } from "node:url";
import { startNode } from "../start-cli.ts";

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
  const started = startNode([program, "--store", files.store, "--clients", files.clients]);
  const { baseUrl, controlUrl } = JSON.parse(await started.line()) as { baseUrl: string; controlUrl: string };
  return {
    baseUrl,
    controlUrl,
    stop: async () => {
      await started.stop();
      return (await started.ended).code;
    },
  };
};
