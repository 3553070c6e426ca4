import { holdsTokenSet } from "../../judging/laws/tokens.ts";
import { exchangeBody, obtainCode, yielded } from "../../world/steps.ts";
import type { Attempt } from "../../judging/laws/one-shot.ts";
import { objectOf, TransportError, type Answer } from "../../world/exchange.ts";
import type { Target } from "../../world/target.ts";
import type { World } from "../../world/world.ts";

/**
 * When a contender starts: after this many cheap requests over another connection, each a fraction of a millisecond on
 * a near target; or once the first contender has its answer. This hits windows of both microseconds and milliseconds.
 */
export type Start = number | "after the first";

export type Connections = readonly (Target & { close(): Promise<void> })[];

/** Opens dedicated connections and warms each with a cheap request, so that none starts late. */
export const withConnections = async <T>(
  world: World,
  count: number,
  action: (connections: Connections) => Promise<T>,
): Promise<T> => {
  const connections = Array.from({ length: count }, () => world.target.dedicated());
  try {
    await Promise.all(connections.map((connection) => connection.list({ query: { limit: 1 } })));
    return await action(connections);
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
  }
};

/**
 * Lets contenders exchange one fresh code, each over its own connection, and returns the history. Nothing is sent
 * twice: an attempt without an answer is unknown. An answer with tokens is a grant even if they no longer work when
 * tried: a service may revoke them as soon as it sees the next contender (RFC 6749 section 4.1.2).
 */
export const raceForCode = async (
  world: World,
  connections: Connections,
  starts: readonly Start[],
): Promise<Attempt[]> => {
  const issued = await obtainCode(world);
  let events = 0;
  const next = (): number => (events += 1);
  const attempt = async (connection: Target, after: Promise<unknown>): Promise<Attempt> => {
    await after;
    const invokedAt = next();
    const answer = await answerOrNothing(
      world,
      connection.exchange(exchangeBody(issued.client, issued.code)),
    );
    if (answer === undefined) return { invokedAt, returnedAt: undefined, outcome: "unknown" };
    return { invokedAt, returnedAt: next(), outcome: (await grants(world, answer)) ? "granted" : "refused" };
  };
  const running: Promise<Attempt>[] = [];
  for (const [index, start] of starts.entries()) {
    const connection = connections[index];
    if (connection === undefined) throw new Error("a race needs a connection for each contender");
    const after =
      start === "after the first"
        ? (running[0] ?? Promise.resolve())
        : start === 0
          ? Promise.resolve()
          : trips(world, start);
    running.push(attempt(connection, after));
  }
  return Promise.all(running);
};

const trips = async (world: World, count: number): Promise<void> => {
  for (let trip = 0; trip < count; trip += 1) await world.target.list({ query: { limit: 1 } });
};

/** The answer; undefined if none came, so that the history has an attempt with unknown outcome. */
const answerOrNothing = async (world: World, request: Promise<Answer>): Promise<Answer | undefined> => {
  try {
    return await request;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    world.evidence.ignoreLoss(error.exchange);
    return undefined;
  }
};

/** A complete token set is a grant; anything less is one only if it works. */
const grants = async (world: World, answer: Answer): Promise<boolean> =>
  holdsTokenSet(objectOf(answer)) || (await yielded(world, answer)) !== undefined;
