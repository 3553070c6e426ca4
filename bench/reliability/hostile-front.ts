import { createServer } from "node:http";
import { listening, passOn, type TestServer } from "../../conformance/testing/servers.ts";
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

/** What a target does wrong, where, and from which request on: this many of each endpoint are answered soundly first. */
export interface HostileGate {
  readonly answer: HostileAnswer;
  readonly at: readonly Endpoint[];
  readonly soundFirst: number;
}

/** A proxy in front of a sound service, which answers at some of its endpoints in one hostile way. */
export const startHostileFront = (
  origin: string,
  { answer, at, soundFirst }: HostileGate,
): Promise<TestServer> => {
  const seen = new Map<string, number>();
  const hostile = new Set<string>(at.map((name) => endpoints[name]));
  const server = createServer((incoming, outgoing) => {
    const [path = ""] = (incoming.url ?? "").split("?");
    const count = (seen.get(path) ?? 0) + 1;
    seen.set(path, count);
    if (hostile.has(path) && count > soundFirst) {
      incoming.resume();
      play(answer, incoming.socket);
    } else passOn(origin, incoming, outgoing);
  });
  // A non-request also gets its connection broken here.
  server.on("clientError", (_, socket) => socket.destroy());
  return listening(server);
};
