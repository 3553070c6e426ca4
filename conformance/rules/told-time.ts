import type { ListOptions, Run } from "../checks/rule.ts";
import { epochMsOf, type Endpoint } from "../contract/forms.ts";
import type { Verdict } from "../contract/verdict.ts";
import { tolerances } from "../judging/tolerances.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { describe, grantOf, locationOf, ControlFailed, objectOf, type Answer } from "../world/exchange.ts";
import { duration } from "../contract/duration.ts";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { exchangeBody, obtainCode, redeem, refreshBody, timed } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";

const CLOCKS_APART_MS = tolerances.clocksApart.default;

/** The share of a code's life before its exchange, and how long the refresh token waits, on a virtual clock. */
const PART_OF_CODE = 0.7;
const REFRESHED_AFTER_MS = 86_400_000;

/** The endpoints whose answers carry a timestamp, "Time of the response" (sections 2.2, 4.1 to 4.3): all but the list. */
type TimedEndpoint = Exclude<Endpoint, "list">;

interface Telling {
  readonly endpoint: TimedEndpoint;
  readonly timestamp: number;
  readonly expiresIn: unknown;
  /** When it was requested and received, on the run's clock. */
  readonly at: TimeInterval;
  readonly exchange: number;
}

/** The timestamp of a granted answer: a number in the JSON, or the digits of a redirect parameter. */
export const timestampOf = (answer: Answer): number | undefined => {
  if (grantOf(answer)?.via !== "redirect") {
    const { timestamp } = objectOf(answer);
    return typeof timestamp === "number" && Number.isFinite(timestamp) ? timestamp : undefined;
  }
  const location = locationOf(answer);
  const text = new URLSearchParams(`${location?.search.slice(1)}&${location?.hash.slice(1)}`).get(
    "timestamp",
  );
  return text !== null && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
};

/**
 * Asks all three endpoints for the time twice: with a code that is minutes old, and with a refresh token that is a day
 * old. A timestamp of the credential, or of another time zone, then stands out.
 */
const judgeToldTime = async (world: World, client: Client, endpoint: TimedEndpoint): Promise<CaseVerdict> => {
  const first = await obtainCode(world, { client });
  const { codeLifetimeMs, refreshTokenLifetimeMs } = world.limits;
  await pauseFor(world, codeLifetimeMs * PART_OF_CODE, 1 / 4);
  const now = await tellingsOf(world, client, { code: first.code });
  const judgement = judgeTellings(world, endpoint, now.tellings);
  if (judgement.kind !== "passed") return judgement;
  await pauseFor(world, Math.min(REFRESHED_AFTER_MS, refreshTokenLifetimeMs / 3), 1);
  const later = await tellingsOf(world, client, { refreshToken: now.refreshToken });
  const verdict = judgeTellings(world, endpoint, later.tellings);
  return verdict.kind === "passed" ? judgeExpiresIn(endpoint, now.tellings, later.tellings) : verdict;
};

export const clientName =
  (world: World) =>
  (client: Client): string =>
    client === world.client ? "the first client" : "the second client";

/** The time that answers of this endpoint tell each of these clients. */
export const toldTimes = (
  run: Run,
  endpoint: TimedEndpoint,
  clients: readonly Client[],
  options: Pick<ListOptions<Client>, "part" | "print">,
): Promise<Verdict> =>
  run.forEach(clients, (client, world) => judgeToldTime(world, client, endpoint), {
    ...options,
    together: true,
    replays: 1,
    clients: "first",
  });

/** The share of the time between two answers by which expiresIn may have grown; that of a moment grows by all of it. */
const MOST_GROWTH = 0.9;
/** Lifetimes may differ by less, from one token to the next. */
const LEAST_APART_MS = 3_600_000;

/** A validity time does not move on with the clock, as the moment does at which a token ends. */
const judgeExpiresIn = (
  endpoint: TimedEndpoint,
  earlier: readonly Telling[],
  later: readonly Telling[],
): CaseVerdict => {
  const [one, other] = [earlier, later].map((all) => all.find((telling) => telling.endpoint === endpoint));
  if (typeof one?.expiresIn !== "number" || typeof other?.expiresIn !== "number") return pass;
  const apartMs = other.at.earliestMs - one.at.latestMs;
  const grewMs = (other.expiresIn - one.expiresIn) * 1_000;
  if (apartMs < LEAST_APART_MS || grewMs < apartMs * MOST_GROWTH) return pass;
  return fail(
    "expiresIn is the validity time of the accessToken, in seconds",
    `it moves with the clock, as the moment of expiry would: ${one.expiresIn} (exchange ${one.exchange}), and ${duration(apartMs)} later ${other.expiresIn} (exchange ${other.exchange})`,
  );
};

/** Skipped in real time, where it would take too long. May last longer by a share of it, so that others wake with it. */
const pauseFor = async ({ clock }: World, durationMs: number, longerBy: number): Promise<void> => {
  if (clock.kind === "virtual") await clock.sleep(durationMs, durationMs * longerBy);
};

/** One answer of each endpoint in quick succession, using the given old credentials instead of fresh ones. */
const tellingsOf = async (
  world: World,
  client: Client,
  old: { readonly code?: string; readonly refreshToken?: string },
): Promise<{ readonly tellings: readonly Telling[]; readonly refreshToken: string }> => {
  const tellings: Telling[] = [];
  const take = (endpoint: TimedEndpoint, { value, at }: { value: Answer; at: TimeInterval }): void => {
    const timestamp = timestampOf(value);
    const { expiresIn } = objectOf(value);
    if (timestamp !== undefined)
      tellings.push({ endpoint, timestamp, expiresIn, at, exchange: value.exchange });
  };
  const fresh = await timed(world, () => obtainCode(world, { client }));
  take("authorize", { value: fresh.value.answer, at: fresh.at });
  const code = old.code ?? fresh.value.code;
  const tokens = await timed(world, () => redeem(world, code, { client }));
  take("exchange", { value: tokens.value.answer, at: tokens.at });
  const refreshToken = old.refreshToken ?? tokens.value.refreshToken;
  const refreshed = await timed(world, () => world.target.refresh(refreshBody(client, refreshToken)));
  if (objectOf(refreshed.value)["accessToken"] === undefined)
    throw new ControlFailed(`a valid refresh got no access token: ${describe(refreshed.value)}`);
  take("refresh", refreshed);
  return { tellings, refreshToken: tokens.value.refreshToken };
};

const judgeTellings = (world: World, endpoint: TimedEndpoint, tellings: readonly Telling[]): CaseVerdict => {
  const odd = oddOnes(world, tellings).find((telling) => telling.endpoint === endpoint);
  if (odd === undefined) return pass;
  const all = tellings
    .map((one) => `${one.endpoint} returned ${one.timestamp} (exchange ${one.exchange})`)
    .join(", ");
  return fail(
    `the timestamp of an answer to ${endpoint} is the time of the response`,
    `requested in quick succession: ${all}${isDated(world) ? `, while the service's clock was at ${odd.at.earliestMs}` : ""}`,
  );
};

/** Whether timestamps may be on the run's clock. */
const isDated = ({ clock }: World): boolean => clock.kind === "virtual" && clock.isTold;

/** Whether a timestamp agrees with the service's clock. */
const fitsClock = ({ timestamp, at }: Pick<Telling, "timestamp" | "at">): boolean =>
  epochMsOf(timestamp) >= at.earliestMs - CLOCKS_APART_MS &&
  epochMsOf(timestamp) <= at.latestMs + CLOCKS_APART_MS;

/**
 * The timestamps that are off. If any agree with the service's clock, those are right; otherwise (the document does not
 * say where times count from) the majority is.
 */
const oddOnes = (world: World, tellings: readonly Telling[]): readonly Telling[] => {
  if (isDated(world) && tellings.some(fitsClock)) return tellings.filter((one) => !fitsClock(one));
  const spanMs =
    Math.max(...tellings.map(({ at }) => at.latestMs)) - Math.min(...tellings.map(({ at }) => at.earliestMs));
  const agreeing = (one: Telling): number =>
    tellings.filter(
      ({ timestamp }) =>
        Math.abs(epochMsOf(timestamp) - epochMsOf(one.timestamp)) <= CLOCKS_APART_MS + spanMs,
    ).length;
  const most = Math.max(...tellings.map(agreeing));
  return tellings.filter((one) => (most === 1 ? tellings.length > 1 : agreeing(one) < most));
};

/**
 * Whether timestamps come from the service's clock as its hook tells it; then dates in other fields can be compared
 * with it too.
 */
export const tellsClockTime = async (world: World): Promise<boolean> => {
  if (!isDated(world)) return false;
  const { code } = await obtainCode(world);
  const { value, at } = await timed(world, () => world.target.exchange(exchangeBody(world.client, code)));
  const timestamp = timestampOf(value);
  return timestamp !== undefined && fitsClock({ timestamp, at });
};

/** How far a date lies outside an interval of the service's clock, allowing for differing nodes; undefined if inside. */
export const offBy = (
  date: number,
  { earliestMs, latestMs }: TimeInterval,
  roomMs: number,
): string | undefined => {
  const early = earliestMs - date;
  const late = date - latestMs;
  if (early > CLOCKS_APART_MS) return `${duration(early)} before the request`;
  return late > CLOCKS_APART_MS + roomMs ? `${duration(late)} after the acknowledgement` : undefined;
};
