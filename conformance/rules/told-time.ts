import type { Endpoint } from "../contract/forms.ts";
import { tolerances } from "../judging/tolerances.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { describe, grantOf, locationOf, ControlFailed, objectOf, type Answer } from "../world/exchange.ts";
import { duration } from "../contract/duration.ts";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { exchangeBody, obtainCode, redeem, refreshBody, timed } from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";

const CLOCKS_APART_MS = tolerances.clocksApart.default;

/** How much of a code's life goes by before its exchange, and how long the refresh token waits, where time can be moved. */
const PART_OF_CODE = 0.7;
const REFRESHED_AFTER_MS = 86_400_000;

/** The answers that carry a timestamp, "Time of the response" (sections 2.2, 4.1 to 4.3): all but pages of the list. */
type TimedEndpoint = Exclude<Endpoint, "list">;

interface Telling {
  readonly endpoint: TimedEndpoint;
  readonly timestamp: number;
  /** When it was asked for and came, on the clock's own scale. */
  readonly at: TimeInterval;
  readonly exchange: number;
}

/** Epoch seconds stay below this until the year 5138; epoch milliseconds have been above it since 1973. */
const inMs = (timestamp: number): number => (Math.abs(timestamp) < 1e11 ? timestamp * 1_000 : timestamp);

/** The timestamp of a granted answer: a number in the JSON, or the digits of a parameter in the redirect. */
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
 * Has all three endpoints tell the time at two moments: with a code that is minutes old, and with a refresh token that
 * is a day old. What tells the time of its credential, or of another zone, then stands out among the others.
 */
export const judgeToldTime = async (
  world: World,
  client: Client,
  endpoint: TimedEndpoint,
): Promise<CaseVerdict> => {
  const first = await obtainCode(world, { client });
  await pauseFor(world, world.limits.codeLifetimeMs * PART_OF_CODE);
  const now = await tellingsOf(world, client, { code: first.code });
  const judgement = judgeTellings(world, endpoint, now.tellings);
  if (judgement.kind !== "passed") return judgement;
  await pauseFor(world, Math.min(REFRESHED_AFTER_MS, world.limits.refreshTokenLifetimeMs / 2));
  const later = await tellingsOf(world, client, { refreshToken: now.refreshToken });
  return judgeTellings(world, endpoint, later.tellings);
};

/** Real time is too dear for this; there all answers are young. */
const pauseFor = async ({ clock }: World, durationMs: number): Promise<void> => {
  if (clock.kind === "virtual") await clock.sleep(durationMs, durationMs / 8);
};

/** One answer of each endpoint, one right after the other, with these credentials in place of fresh ones. */
const tellingsOf = async (
  world: World,
  client: Client,
  old: { readonly code?: string; readonly refreshToken?: string },
): Promise<{ readonly tellings: readonly Telling[]; readonly refreshToken: string }> => {
  const tellings: Telling[] = [];
  const take = (endpoint: TimedEndpoint, { value, at }: { value: Answer; at: TimeInterval }): void => {
    const timestamp = timestampOf(value);
    if (timestamp !== undefined) tellings.push({ endpoint, timestamp, at, exchange: value.exchange });
  };
  const fresh = await timed(world, () => obtainCode(world, { client }));
  take("authorize", { value: fresh.value.answer, at: fresh.at });
  const code = old.code ?? fresh.value.code;
  const tokens = await timed(world, () => redeem(world, code, { client }));
  take("exchange", { value: tokens.value.answer, at: tokens.at });
  const refreshToken = old.refreshToken ?? tokens.value.refreshToken;
  const refreshed = await timed(world, () => world.target.refresh(refreshBody(client, refreshToken)));
  if (objectOf(refreshed.value)["accessToken"] === undefined)
    throw new ControlFailed(`a right refresh got no access token: ${describe(refreshed.value)}`);
  take("refresh", refreshed);
  return { tellings, refreshToken: tokens.value.refreshToken };
};

const judgeTellings = (world: World, endpoint: TimedEndpoint, tellings: readonly Telling[]): CaseVerdict => {
  const odd = oddOnes(world, tellings).find((telling) => telling.endpoint === endpoint);
  if (odd === undefined) return pass;
  const all = tellings
    .map((one) => `${one.endpoint} told ${one.timestamp} (exchange ${one.exchange})`)
    .join(", ");
  return fail(
    `the timestamp of an answer to ${endpoint} is the time of the response`,
    `asked one right after the other, ${all}${isDated(world) ? `, when the service's clock stood at ${odd.at.earliestMs}` : ""}`,
  );
};

/** Whether the clock's own scale may be the one that timestamps are in. */
const isDated = ({ clock }: World): boolean => clock.kind === "virtual" && clock.isTold;

/** Whether a timestamp is what the service's clock showed. */
const fitsClock = ({ timestamp, at }: Pick<Telling, "timestamp" | "at">): boolean =>
  inMs(timestamp) >= at.earliestMs - CLOCKS_APART_MS && inMs(timestamp) <= at.latestMs + CLOCKS_APART_MS;

/**
 * The tellings that are off. Which of them is right the service's clock says, where it agrees with any; a time that
 * counts from elsewhere is the document's business as little as its unit. Otherwise those that agree outvote the rest.
 */
const oddOnes = (world: World, tellings: readonly Telling[]): readonly Telling[] => {
  if (isDated(world) && tellings.some(fitsClock)) return tellings.filter((one) => !fitsClock(one));
  const spanMs =
    Math.max(...tellings.map(({ at }) => at.latestMs)) - Math.min(...tellings.map(({ at }) => at.earliestMs));
  const agreeing = (one: Telling): number =>
    tellings.filter(
      ({ timestamp }) => Math.abs(inMs(timestamp) - inMs(one.timestamp)) <= CLOCKS_APART_MS + spanMs,
    ).length;
  const most = Math.max(...tellings.map(agreeing));
  return tellings.filter((one) => (most === 1 ? tellings.length > 1 : agreeing(one) < most));
};

/**
 * Whether the service's clock, as its hook tells it, is the one that its timestamps are taken from: then dates in other
 * fields can be compared with it too.
 */
export const tellsClockTime = async (world: World): Promise<boolean> => {
  if (!isDated(world)) return false;
  const { code } = await obtainCode(world);
  const { value, at } = await timed(world, () => world.target.exchange(exchangeBody(world.client, code)));
  const timestamp = timestampOf(value);
  return timestamp !== undefined && fitsClock({ timestamp, at });
};

/** Whether a date lies in a stretch of the service's clock, with room for nodes that differ; and how far off it is. */
export const offBy = (
  date: number,
  { earliestMs, latestMs }: TimeInterval,
  roomMs: number,
): string | undefined => {
  const early = earliestMs - date;
  const late = date - latestMs;
  if (early > CLOCKS_APART_MS) return `${duration(early)} before it was begun`;
  return late > CLOCKS_APART_MS + roomMs ? `${duration(late)} after it was acknowledged` : undefined;
};
