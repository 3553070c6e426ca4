import { once } from "node:events";
import type { ListenOptions, Server } from "node:net";
import { codeOf } from "../conformance/contract/files.ts";
import { pause } from "./clock.ts";

const TRIES = 200;
const BETWEEN_MS = 50;

/**
 * Listens, and rejects as the server does. A port that it had before (`isAnew`) is tried for ten seconds, because a
 * connection that another program opened meanwhile may have been given it.
 */
export const listenOn = async (server: Server, options: ListenOptions, isAnew: boolean): Promise<void> => {
  for (let left = isAnew ? TRIES : 1; ; left -= 1) {
    server.listen(options);
    const error: unknown = await once(server, "listening").then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error === undefined) return;
    if (left <= 1 || codeOf(error) !== "EADDRINUSE") throw error;
    await pause(BETWEEN_MS);
  }
};
