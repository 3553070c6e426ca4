import { fail, inconclusive, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { anomalyOf, type Anomaly, type Attempt } from "../judging/laws/one-shot.ts";
import { holdsTokenSet } from "../judging/laws/tokens.ts";
import type { Connections } from "./shared/many.ts";
import { exchangeBody, obtainCode, yielded } from "../world/steps.ts";
import {
  isHangUp,
  mayBeGateways,
  objectOf,
  TransportError,
  whatAnswersInstead,
  type Answer,
  type Lost,
} from "../world/exchange.ts";
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

/** An exchange of the code, and why its outcome is unknown. */
interface Contender extends Attempt {
  readonly lost?: Lost;
}

/** What the rounds of a lane leave. */
interface Left {
  /** Numbers of all exchanges of the code of the last round. */
  sent: number[];
  /** Whether a round had a grant, and a contender that got something else. */
  hasShown: boolean;
  lost: Lost | undefined;
}

/**
 * Five rounds over the same connections, whose roles change from lane to lane. Stops at the first anomaly. Decides nothing
 * if no round shows what several contenders got.
 */
export const raceInLane = async (
  world: World,
  connections: Connections,
  lane: number,
  met: Met,
): Promise<CaseVerdict> => {
  const turned = connections.map(
    (_, at) => connections[(at + lane) % connections.length] as Connections[number],
  );
  const left: Left = { sent: [], hasShown: false, lost: undefined };
  for (const starts of patterns(lane)) {
    left.sent = [];
    const anomaly = await anomalyOfRound(world, turned, starts, met, left);
    if (anomaly !== undefined) return fail(linearizable, seen[anomaly](starts.length), left.sent);
  }
  if (left.hasShown) return pass;
  return inconclusive(
    "in no round did one of several concurrent exchanges of a code get tokens and another get an answer",
    left.lost && whatAnswersInstead(left.lost),
  );
};

/** Whether the contenders show that the first alone is granted: one is, and another is not, perhaps by hanging up on it. */
const showsRace = (contenders: readonly Contender[]): boolean =>
  contenders.some(({ outcome }) => outcome === "granted") &&
  contenders.some(({ outcome, lost }) => outcome === "refused" || isHangUp(lost));

/**
 * A round without a winner may be a deadlock that the service resolved, which the document does not forbid. Three in a
 * row are a breach: then the first exchange of a code does not succeed.
 */
const anomalyOfRound = async (
  world: World,
  connections: Connections,
  starts: readonly Start[],
  met: Met,
  left: Left,
): Promise<Anomaly | undefined> => {
  for (let again = 1; ; again += 1) {
    const history = await raceForCode(world, connections, starts, left.sent);
    met.rounds += 1;
    met.unanswered += history.filter(({ outcome }) => outcome === "unknown").length;
    left.hasShown ||= showsRace(history);
    left.lost = history.find(({ lost }) => lost !== undefined)?.lost ?? left.lost;
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
): Promise<Contender[]> => {
  const issued = await obtainCode(world);
  let events = 0;
  const next = (): number => (events += 1);
  const attempt = async (connection: Target, after: Promise<unknown> | undefined): Promise<Contender> => {
    await after;
    const invokedAt = next();
    const answer = await answerOrLoss(
      world,
      connection.exchange(exchangeBody(issued.client, issued.code)),
      sent,
    );
    if (answer instanceof TransportError) return { ...unknown, invokedAt, lost: answer };
    if (await grants(world, answer, sent)) return { invokedAt, returnedAt: next(), outcome: "granted" };
    if (!mayBeGateways(answer)) return { invokedAt, returnedAt: next(), outcome: "refused" };
    world.evidence.ignoreLoss(answer.exchange);
    return { ...unknown, invokedAt, lost: answer };
  };
  const running: Promise<Contender>[] = [];
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

const unknown = { returnedAt: undefined, outcome: "unknown" } as const;

/** The answer; the error if none came, so that the history has an attempt with unknown outcome. */
const answerOrLoss = async (
  world: World,
  request: Promise<Answer>,
  sent: number[],
): Promise<Answer | TransportError> => {
  try {
    const answer = await request;
    sent.push(answer.exchange);
    return answer;
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    sent.push(error.exchange);
    world.evidence.ignoreLoss(error.exchange);
    return error;
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
