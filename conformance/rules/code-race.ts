import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { anomalyOf, type Anomaly, type Attempt } from "../judging/laws/one-shot.ts";
import { holdsTokenSet } from "../judging/laws/tokens.ts";
import type { Connections } from "./shared/connections.ts";
import { exchangeBody, obtainCode, yielded } from "../world/steps.ts";
import { mayBeGateways, objectOf, TransportError, type Answer } from "../world/exchange.ts";
import { notedFrom } from "../world/noted.ts";
import type { Target } from "../world/target.ts";
import type { World } from "../world/world.ts";

/**
 * When a contender starts: after this many cheap requests over another connection, each a fraction of a millisecond on
 * a near target; or once the first contender has its answer. This hits windows of both microseconds and milliseconds.
 */
type Start = number | "after the first";

const patterns = (lane: number): readonly (readonly Start[])[] => [
  [0, 0],
  [0, 0, 0],
  [0, lane % 2 === 0 ? 1 : 2],
  lane % 2 === 0 ? [0, 1, 2] : [0, 4, 12],
  [0, lane % 4 < 2 ? 0 : "after the first", "after the first"],
];

/** What the rounds met, counted over all lanes. */
export interface Met {
  rounds: number;
  unanswered: number;
  roundsWithoutWinner: number;
}

/** Five rounds over the same connections, whose roles change from lane to lane. Stops at the first anomaly. */
export const raceInLane = async (
  world: World,
  connections: Connections,
  lane: number,
  met: Met,
): Promise<CaseVerdict> => {
  const turned = connections.map(
    (_, at) => connections[(at + lane) % connections.length] as Connections[number],
  );
  for (const starts of patterns(lane)) {
    const sent: number[] = [];
    const anomaly = await anomalyOfRound(world, turned, starts, met, sent);
    if (anomaly !== undefined) return fail(linearizable, seen[anomaly](starts.length), sent);
  }
  return pass;
};

/**
 * A round without a winner may be a deadlock that the service resolved, which the document does not forbid. Three in a
 * row are a breach: then the first exchange of a code does not succeed.
 */
const anomalyOfRound = async (
  world: World,
  connections: Connections,
  starts: readonly Start[],
  met: Met,
  /** Takes the numbers of all exchanges of the code. */
  sent: number[],
): Promise<Anomaly | undefined> => {
  for (let again = 1; ; again += 1) {
    const history = await raceForCode(world, connections, starts, sent);
    met.rounds += 1;
    met.unanswered += history.filter(({ outcome }) => outcome === "unknown").length;
    const anomaly = anomalyOf(history);
    if (anomaly !== "never-granted") return anomaly;
    met.roundsWithoutWinner += 1;
    if (again === 3) return anomaly;
  }
};

const linearizable =
  "of several exchanges of one code, the first to take effect succeeds and every other one is refused";
const seen: Readonly<Record<Anomaly, (contenders: number) => string>> = {
  "granted-twice": (contenders) =>
    `more than one of ${contenders} concurrent exchanges of one code got tokens`,
  "refused-too-early": () => "an exchange was refused before any other had begun, but a later one got tokens",
  "never-granted": (contenders) =>
    `none of ${contenders} concurrent exchanges of one code got tokens, three times in a row`,
};

/**
 * Lets contenders exchange one fresh code, each over its own connection, and returns the history. Nothing is sent
 * twice: an attempt without an answer, or perhaps with a gateway's, is unknown. An answer with tokens is a grant even if
 * they no longer work when tried: a service may revoke them as soon as it sees the next contender (RFC 6749 section
 * 4.1.2).
 */
const raceForCode = async (
  world: World,
  connections: Connections,
  starts: readonly Start[],
  sent: number[],
): Promise<Attempt[]> => {
  const issued = await obtainCode(world);
  let events = 0;
  const next = (): number => (events += 1);
  const attempt = async (connection: Target, after: Promise<unknown> | undefined): Promise<Attempt> => {
    await after;
    const invokedAt = next();
    const answer = await answerOrNothing(
      world,
      connection.exchange(exchangeBody(issued.client, issued.code)),
      sent,
    );
    if (answer === undefined) return { invokedAt, returnedAt: undefined, outcome: "unknown" };
    if (await grants(world, answer, sent)) return { invokedAt, returnedAt: next(), outcome: "granted" };
    if (!mayBeGateways(answer)) return { invokedAt, returnedAt: next(), outcome: "refused" };
    world.evidence.ignoreLoss(answer.exchange);
    return { invokedAt, returnedAt: undefined, outcome: "unknown" };
  };
  const running: Promise<Attempt>[] = [];
  for (const [index, start] of starts.entries()) {
    const connection = connections[index];
    if (connection === undefined) throw new Error("a race needs a connection for each contender");
    running.push(attempt(connection, start === "after the first" ? running[0] : trips(world, start)));
  }
  return Promise.all(running);
};

const trips = async (world: World, count: number): Promise<void> => {
  for (let trip = 0; trip < count; trip += 1) await world.target.list({ query: { limit: 1 } });
};

/** The answer; undefined if none came, so that the history has an attempt with unknown outcome. */
const answerOrNothing = async (
  world: World,
  request: Promise<Answer>,
  sent: number[],
): Promise<Answer | undefined> => {
  try {
    const answer = await request;
    sent.push(answer.exchange);
    return answer;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    sent.push(error.exchange);
    world.evidence.ignoreLoss(error.exchange);
    return undefined;
  }
};

/** A complete token set is a grant; anything less is one only if it works, which further exchanges show. */
const grants = async (world: World, answer: Answer, sent: number[]): Promise<boolean> => {
  if (holdsTokenSet(objectOf(answer))) return true;
  const noted = notedFrom(world);
  const isGrant = (await yielded(world, answer)) !== undefined;
  if (isGrant) sent.push(...noted());
  return isGrant;
};
