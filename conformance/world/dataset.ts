import type { TimeInterval } from "../judging/interval.ts";
import type { Limits, Tolerances } from "../contract/limits.ts";
import type { Clock } from "./clock.ts";
import { EventHookFailed, type Events } from "./hooks/events.ts";
import {
  givenToBeListed,
  untilListed,
  openList,
  readAccount,
  readPages,
  areOthers,
  isListed,
  OTHERS_NOTE,
  type Told,
} from "./listing.ts";
import type { Target } from "./target.ts";

export interface AccountSet {
  readonly accountId: string;
  /** Ids of all its notifications, in order of creation if known. */
  readonly ids: readonly string[];
  /**
   * Whether the ids come from events that the run triggered in its own account. Otherwise they were read from the
   * service, and rules compare the service with itself.
   */
  readonly known: boolean;
  /**
   * When each of them was created, by lower-case id, on the run's clock: from before its event was begun until it was
   * acknowledged. Contains only notifications that the run created.
   */
  readonly created?: ReadonlyMap<string, TimeInterval>;
}

/** The accounts that read-only rules may rely on; nothing is written to them during the run. */
export interface NotificationSets {
  /** Accounts with notifications, those with the most first. */
  readonly accounts: readonly AccountSet[];
  readonly emptyAccountId: string;
}

export interface DatasetOptions {
  readonly target: Pick<Target, "list">;
  readonly clock: Pick<Clock, "sleep" | "kind" | "now" | "isMovedOnly">;
  /** Undefined if the profile has no trigger hook; then the service's existing notifications are used. */
  readonly events: Events | undefined;
  readonly limits: Pick<Limits, "defaultLimit" | "defaultPage">;
  readonly tolerances: Pick<Tolerances, "visibilityMs" | "visibilityRealMs">;
  /** Obtains a working access token; called for each round of reading, because waits may outlive a token. */
  readonly accessToken: () => Promise<string>;
  readonly freshUuid: () => string;
  readonly secondClientId?: string | undefined;
}

export interface PreparedNotifications {
  readonly sets: NotificationSets;
  /** What went wrong, in sentences: notifications that were not listed in time, lists that were refused. */
  readonly notes: readonly string[];
}

interface Batch extends Told {
  readonly accountId: string;
  /** When they were created, in order of the events. */
  readonly moments?: readonly TimeInterval[];
}

const AT_A_TIME = 12;
const MOMENT_MS = 8;
const GAP_MS = 1_500;
/** On a virtual clock the last event falls into the other half of the day, which twelve-hour clocks confuse. */
const HALF_A_DAY_MS = 12 * 3_600_000;
const MOST_ACCOUNTS = 6;

/**
 * Notifications for read-only rules. With a trigger hook they are created: an account of three and a half default
 * pages, one of exactly two, one of three created at different times, and one of a single notification. If accounts are
 * the run's own, their ids differ in only one digit, to expose lookups by prefix or pattern. Without a hook the
 * service's own notifications are read. Throws EventHookFailed; problems with the list become notes, because rules
 * judge the list.
 */
export const prepareNotifications = async (options: DatasetOptions): Promise<PreparedNotifications> => {
  const { events, freshUuid } = options;
  if (events === undefined) return readExisting(options);
  return events.accountsAreFresh
    ? createOwn(options, events)
    : topUpNamed(options, events, sizesFor(options.limits.defaultLimit), freshUuid());
};

const sizesFor = (defaultLimit: number): readonly number[] => [3 * defaultLimit + 6, 2 * defaultLimit, 3, 1];

export const twinOf = (uuid: string, index: number): string => {
  const digit = Number.parseInt(uuid.charAt(index), 16);
  return uuid.slice(0, index) + ((digit + 1) % 16).toString(16) + uuid.slice(index + 1);
};

const createOwn = async (options: DatasetOptions, events: Events): Promise<PreparedNotifications> => {
  const first = events.account();
  const last = first.length - 1;
  const [many, pages, few, one] = sizesFor(options.limits.defaultLimit);
  // The batch that takes half a day goes first, otherwise earlier ones would have all that time to be listed.
  const apart = await triggerApart(options, events, twinOf(first, 0), few ?? 0);
  // Read in between, so that a service that caches a count still has it when rules count.
  const read = await openList(options);
  await read({}, 0);
  const [large, full] = await Promise.all([
    triggerTogether(options, events, first, many ?? 0),
    triggerTogether(options, events, events.account(), pages ?? 0),
    triggerForSecondClient(options.secondClientId, events),
  ]);
  // Once more, because only first pages may be long enough to show it, and lists may begin with the latest.
  await triggerForSecondClient(options.secondClientId, events);
  const batches = [large, full, apart, await triggerTogether(options, events, twinOf(first, last), one ?? 0)];
  const seen = await waitUntilListed(options, batches);
  const accounts = batches.map(({ accountId, told, moments = [], events: count }, index): AccountSet => {
    const listed = seen.ids[index] ?? [];
    const areListed = listed.length === count;
    if (seen.areOthers) return { accountId, ids: listed, known: areListed };
    const ids = told.filter((id) => id !== undefined);
    const created = momentsOf(told, moments);
    if (ids.length === count) return { accountId, ids, known: true, created };
    return { accountId, ids: listed, known: areListed, created };
  });
  return {
    sets: { accounts, emptyAccountId: twinOf(twinOf(first, last), last) },
    notes: seen.notes,
  };
};

/**
 * An event that concerns the second client, among the others: where it is not listed for the first, neither totals nor
 * pages may show that it is there. Hooks may know the first client only.
 */
const triggerForSecondClient = async (clientId: string | undefined, events: Events): Promise<void> => {
  if (clientId === undefined) return;
  await events.trigger(events.account(), clientId).catch((error: unknown) => {
    if (!(error instanceof EventHookFailed)) throw error;
  });
};

const momentsOf = (
  told: readonly (string | undefined)[],
  moments: readonly TimeInterval[],
): ReadonlyMap<string, TimeInterval> =>
  new Map(
    told.flatMap((id, index) => {
      const at = moments[index];
      return id === undefined || at === undefined ? [] : [[id.toLowerCase(), at] as const];
    }),
  );

/**
 * A few at a time with short pauses, so that creation is quick and still has an order. If time runs by itself, nobody can
 * choose the millisecond of an event: the second and, unless events take no time, the third few begin shortly before a
 * whole second instead, so that one of them probably falls on it. Others leave milliseconds that need three digits.
 */
const triggerTogether = (options: DatasetOptions, events: Events, accountId: string, count: number) =>
  triggerIn(options, events, accountId, count, AT_A_TIME, (told, nowMs, tookMs) => {
    if (told === 0) return 0;
    if (told > (tookMs === 0 ? 1 : 2) * AT_A_TIME || options.clock.isMovedOnly()) return MOMENT_MS;
    return 1_000 - ((nowMs + tookMs / 2) % 1_000);
  });

/** One after another with time between them, so that order by createTime is visible. */
const triggerApart = (options: DatasetOptions, events: Events, accountId: string, count: number) =>
  triggerIn(options, events, accountId, count, 1, (told, nowMs) => {
    const gapMs = told === 0 ? 0 : GAP_MS;
    if (options.clock.kind === "real") return gapMs;
    const isLast = told > 0 && told === count - 1;
    return untilTelling(nowMs, isLast ? HALF_A_DAY_MS : gapMs, told);
  });

/** Milliseconds of a second that show how createTime is written: zeros alone, and behind zeros. */
const TELLING_MS = [0, 7];

/** How long it is, from a gap on, until the second is at the next of them. */
const untilTelling = (nowMs: number, gapMs: number, told: number): number => {
  const telling = TELLING_MS[told % TELLING_MS.length] ?? 0;
  return Math.ceil((nowMs + gapMs - telling) / 1_000) * 1_000 + telling - nowMs;
};

const triggerIn = async (
  { clock }: DatasetOptions,
  events: Events,
  accountId: string,
  count: number,
  most: number,
  /** Before the next few, from how many there are, the time, and how long the last few took. */
  pauseMs: (told: number, nowMs: number, tookMs: number) => number,
): Promise<Batch> => {
  const told: (string | undefined)[] = [];
  const moments: TimeInterval[] = [];
  while (told.length < count) {
    const last = moments.at(-1);
    const tookMs = last === undefined ? 0 : last.latestMs - last.earliestMs;
    const breakMs = pauseMs(told.length, (await clock.now()).latestMs, tookMs);
    if (breakMs > 0) await clock.sleep(breakMs);
    const size = Math.min(most, count - told.length);
    const { earliestMs } = await clock.now();
    told.push(...(await Promise.all(Array.from({ length: size }, () => events.trigger(accountId)))));
    const { latestMs } = await clock.now();
    while (moments.length < told.length) moments.push({ earliestMs, latestMs });
  }
  return { accountId, events: count, told, moments, mayBeOthers: events.mayTellOthers };
};

/**
 * Reads until every event is listed or the time for that is over, with growing pauses. Returns the ids of each batch, and
 * whether the hook returned those of something other than notifications.
 */
const waitUntilListed = async (options: DatasetOptions, batches: readonly Batch[]) => {
  const ids: string[][] = batches.map(() => []);
  const readMissing = async (): Promise<readonly Batch[]> => {
    const read = await openList(options);
    for (const [index, batch] of batches.entries()) {
      if (isListed(batch, ids[index] ?? [])) continue;
      ids[index] = [...new Set([...(ids[index] ?? []), ...(await readAccount(read, batch.accountId))])];
    }
    return batches.filter((batch, index) => !isListed(batch, ids[index] ?? []));
  };
  let waitedMs = 0;
  for (let pauseMs = 100; ; pauseMs *= 2) {
    let missing = await readMissing();
    if (waitedMs >= options.tolerances.visibilityMs)
      await untilListed(options, async () => (missing = await readMissing()).length === 0);
    const leftMs = options.tolerances.visibilityMs - waitedMs;
    if (missing.length === 0 || leftMs <= 0) {
      const isOfOthers = areOthers(batches, ids);
      if (isOfOthers) options.events?.ignoreIds();
      const notes = missing.map((batch) => {
        const count = ids[batches.indexOf(batch)]?.length ?? 0;
        const others = count < batch.events ? "" : ", but not under all ids that the hook returned";
        return `of ${batch.events} notifications triggered for account ${batch.accountId}, ${count} were listed ${givenToBeListed(options)}${others}`;
      });
      return { ids, areOthers: isOfOthers, notes: isOfOthers ? [...notes, OTHERS_NOTE] : notes };
    }
    await options.clock.sleep(Math.min(pauseMs, leftMs));
    waitedMs += Math.min(pauseMs, leftMs);
  }
};

/** Accounts that the profile names may already hold notifications, so only missing ones are triggered. */
const topUpNamed = async (
  options: DatasetOptions,
  events: Events,
  sizes: readonly number[],
  emptyAccountId: string,
): Promise<PreparedNotifications> => {
  const named = [...new Set(sizes.map(() => events.account()))];
  const read = await openList(options);
  const wanted: Batch[] = [];
  for (const [index, accountId] of named.entries()) {
    const existing = await readAccount(read, accountId);
    const missing = Math.max(0, (sizes[index] ?? 0) - existing.length);
    const batch = await triggerTogether(options, events, accountId, missing);
    wanted.push({ ...batch, events: existing.length + missing, existing });
  }
  const seen = await waitUntilListed(options, wanted);
  const accounts = wanted.map(({ accountId }, index) => ({
    accountId,
    ids: seen.ids[index] ?? [],
    known: false,
  }));
  return { sets: { accounts: mostPopulousFirst(accounts), emptyAccountId }, notes: seen.notes };
};

const readExisting = async (options: DatasetOptions): Promise<PreparedNotifications> => {
  const read = await openList(options);
  const items = await readPages(read, {});
  const found = [...new Set(items.map(({ accountId }) => accountId))].map((accountId) => ({
    accountId,
    ids: items.filter((item) => item.accountId === accountId).map(({ id }) => id),
    known: false,
  }));
  const accounts: AccountSet[] = [];
  // Pages of the whole list are read only up to a limit; the filter shows the rest of each account.
  for (const account of mostPopulousFirst(found).slice(0, MOST_ACCOUNTS)) {
    const ids = new Set([...account.ids, ...(await readAccount(read, account.accountId))]);
    accounts.push({ ...account, ids: [...ids] });
  }
  const notes =
    accounts.length === 0
      ? ["the service lists no notifications, and the profile has no hook events.trigger to create some"]
      : [];
  return { sets: { accounts: mostPopulousFirst(accounts), emptyAccountId: options.freshUuid() }, notes };
};

const mostPopulousFirst = (accounts: readonly AccountSet[]): readonly AccountSet[] =>
  accounts.toSorted((a, b) => b.ids.length - a.ids.length);
