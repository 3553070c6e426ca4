import { MINUTE_MS } from "../contract/duration.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { zoneShiftMs } from "../world/time/faketime-text.ts";
import { credentialsOf, headerOf, objectOf } from "../world/exchange.ts";
import { instantMs } from "../world/hooks/hooks.ts";
import { exchangeBody, obtainCode, withoutYield } from "../world/steps.ts";
import type { World } from "../world/world.ts";

/** Times outside these years are no times of day in any unit, also if they count from 2000; the rules report that. */
const YEARS = { from: Date.UTC(1990), to: Date.UTC(2100) } as const;

/** The times in the answers of authorize and access-token, as far as they have one. */
export type Told = Readonly<Record<string, number>>;

/** What one flow tells: a code and something that it is exchanged for. */
export interface Flow {
  readonly told: Told;
  /** The Date of the last answer. A server may renew it only once a second, and a gateway may set its own. */
  readonly dateMs: number | undefined;
}

/** Throws ControlFailed if a valid code yields nothing. */
export const flowOf = async (world: World): Promise<Flow> => {
  const issued = await obtainCode(world);
  const exchanged = await world.target.exchange(exchangeBody(world.client, issued.code));
  const { accessToken, refreshToken } = credentialsOf(exchanged);
  if (accessToken === undefined && refreshToken === undefined)
    throw withoutYield(exchanged, "a valid exchange got no tokens");
  const told = Object.entries({ authorize: issued.answer, exchange: exchanged }).flatMap(
    ([operation, answer]) => {
      const { timestamp } = objectOf(answer);
      const atMs = typeof timestamp === "number" ? instantMs(timestamp) : undefined;
      return atMs !== undefined && atMs > YEARS.from && atMs < YEARS.to ? [[operation, atMs] as const] : [];
    },
  );
  const dateMs = Date.parse(headerOf(exchanged, "date") ?? "");
  return { told: Object.fromEntries(told), dateMs: Number.isNaN(dateMs) ? undefined : dateMs };
};

/** The most that the time of any operation moved. */
export const movedBetween = (before: Told, after: Told): number =>
  Math.max(0, ...Object.entries(before).map(([operation, atMs]) => (after[operation] ?? atMs) - atMs));

export interface Looks {
  /** How often a timestamp was asked for right after a move. */
  readonly asked: number;
  /** How many of them did not show it, although others of the same operation did. */
  readonly late: number;
  /** Whether the time of one went back, which it does not of what only reads a file late. */
  readonly wentBack: boolean;
}

/**
 * What was told before the first and after each of some moves by `moveMs`. The time of an operation that never shows a
 * move is the service's own affair. One that is told in whole minutes may move by any number of them.
 */
export const lateLooks = (told: readonly Told[], moveMs: number): Looks => {
  const operations = new Set(told.flatMap((one) => Object.keys(one)));
  const steps = [...operations].flatMap((operation) => {
    const times = told.flatMap((one) => one[operation] ?? []);
    const own = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs));
    const isTelling =
      times.some((atMs) => atMs % MINUTE_MS !== 0) && own.some((stepMs) => stepMs >= moveMs / 2);
    return isTelling ? own : [];
  });
  return {
    asked: steps.length,
    late: steps.filter((stepMs) => stepMs < moveMs / 2).length,
    wentBack: steps.some((stepMs) => stepMs < -moveMs / 2),
  };
};

/** Whether some times are more exact than a minute, so that a move of one must show. */
export const isExact = (told: Told): boolean => Object.values(told).some((atMs) => atMs % MINUTE_MS !== 0);

export interface Compared extends Flow {
  /** The time that the service should have told. */
  readonly at: TimeInterval;
}

/** The difference between two time zones by which all times differ from what they should be; undefined if there is none. */
export const shiftOf = (
  looks: readonly Pick<Compared, "told" | "at">[],
): { readonly shiftMs: number; readonly toldMs: number; readonly meantMs: number } | undefined => {
  const all = looks.flatMap(({ told, at }) =>
    Object.values(told).map((toldMs) => ({
      toldMs,
      meantMs: at.earliestMs,
      shiftMs: zoneShiftMs(toldMs - at.earliestMs),
    })),
  );
  const [first] = all;
  if (first?.shiftMs === undefined || all.some(({ shiftMs }) => shiftMs !== first.shiftMs)) return undefined;
  return { ...first, shiftMs: first.shiftMs };
};
