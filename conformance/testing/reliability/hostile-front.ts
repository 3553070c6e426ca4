import { createServer } from "node:http";
import { listening, passOn, type TestServer } from "../servers.ts";
import type { HostileAnswer } from "./hostile-answers.ts";
import { play } from "./hostile-peer.ts";

/** The endpoints of the document, by the names used in these tests. */
export const endpoints = {
  authorize: "/open-api/oauth/authorize",
  exchange: "/open-api/oauth/access-token",
  refresh: "/open-api/oauth/refresh-token",
  notifications: "/open-api/v1/notifications",
} as const;
export type Endpoint = keyof typeof endpoints;

/** A proxy in front of a sound service, which answers at some of its endpoints in one hostile way. */
export interface HostileFront extends TestServer {
  /** How many hostile answers were given. */
  readonly played: () => number;
}

export interface FrontOptions {
  readonly answer: HostileAnswer;
  readonly at: readonly Endpoint[];
  /** This many requests of each endpoint are let through first. */
  readonly soundFirst: number;
}

export const startHostileFront = async (origin: string, options: FrontOptions): Promise<HostileFront> => {
  const seen = new Map<string, number>();
  const hostile = new Set<string>(options.at.map((name) => endpoints[name]));
  let played = 0;
  const server = createServer((incoming, outgoing) => {
    const [path = ""] = (incoming.url ?? "").split("?");
    const count = (seen.get(path) ?? 0) + 1;
    seen.set(path, count);
    if (hostile.has(path) && count > options.soundFirst) {
      played += 1;
      incoming.resume();
      play(options.answer, incoming.socket);
    } else passOn(origin, incoming, outgoing);
  });
  // A non-request also gets its connection broken here.
  server.on("clientError", (_, socket) => socket.destroy());
  return { ...(await listening(server)), played: () => played };
};
