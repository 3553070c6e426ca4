import { duration } from "../contract/duration.ts";
import { monotonicMs, pause, type Clock } from "./clock.ts";
import type { Tolerances } from "../contract/limits.ts";
import { pageOf, type Answer, unlessUndecided } from "./exchange.ts";
import type { ListRequest, Target } from "./target.ts";
import { type Page, fold } from "../judging/laws/pages.ts";

/** For breaches: how long the missing notifications were given to appear. */
export const givenToBeListed = ({
  clock,
  tolerances,
}: {
  readonly clock: Pick<Clock, "kind">;
  readonly tolerances: Pick<Tolerances, "visibilityMs" | "visibilityRealMs">;
}): string =>
  clock.kind === "real"
    ? `within ${duration(tolerances.visibilityMs)} (tolerances.visibilityMs)`
    : `within ${duration(tolerances.visibilityMs)} of the service's clock and up to ${duration(tolerances.visibilityRealMs)} of real time (tolerances.visibilityMs)`;

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;

/**
 * How often a run, told by its tolerances, waited in vain for all of it, since a wait was last worth its time. After a few
 * times the service loses notifications, and waiting in full would cost the same time in every case of every rule. Fewer
 * may have another cause, such as a restart.
 */
const inVain = new WeakMap<object, number>();
const MOST_IN_VAIN = 3;
const PART_AFTER_LOSS = 0.1;

/**
 * Polls in real time until something is listed or the tolerance is used up. A service may index in real time even if
 * its clock can be moved; time stands still while a rule is awake, so this does not wait on the target's clock. In real
 * time the earlier wait covered both, so nothing is polled.
 */
export const untilListed = async (
  {
    clock,
    tolerances,
  }: { readonly clock: Pick<Clock, "kind">; readonly tolerances: Pick<Tolerances, "visibilityRealMs"> },
  isListed: () => Promise<boolean>,
): Promise<void> => {
  if (clock.kind === "real") return;
  const wholeMs = tolerances.visibilityRealMs;
  const startedMs = monotonicMs();
  const vain = inVain.get(tolerances) ?? 0;
  const untilMs = startedMs + (vain >= MOST_IN_VAIN ? wholeMs * PART_AFTER_LOSS : wholeMs);
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const leftMs = untilMs - monotonicMs();
    if (await isListed()) {
      if (monotonicMs() - startedMs > wholeMs * PART_AFTER_LOSS) inVain.delete(tolerances);
      return;
    }
    if (leftMs <= 0) {
      inVain.set(tolerances, vain + 1);
      return;
    }
    await pause(Math.min(pauseMs, leftMs));
  }
};

type Item = Readonly<Record<string, unknown>>;

/** Page size to request if a default page does not show what is looked for. */
export const LARGE_PAGE = 50;

/** The result of looking for one notification. */
export interface Listed {
  readonly answer: Answer;
  readonly item: Item | undefined;
  /** Whether the answer held everything that matched: if others write to the account, one page says nothing. */
  readonly isWhole: boolean;
}

/**
 * Looks for a notification in the answer to a query. Asks once, with a larger page if needed, and repeatedly if a
 * service may index in real time even though its clock was moved.
 */
export const findListed = async (
  world: Parameters<typeof untilListed>[0] & { readonly target: Pick<Target, "list"> },
  accessToken: string,
  query: ListRequest["query"],
  id: string,
): Promise<Listed> => {
  const ask = (limit: ListRequest["query"]): Promise<Answer> =>
    world.target.list({ accessToken, query: { ...query, ...limit } });
  let answer = await ask({});
  const itemIn = (): Item | undefined => itemWith(pageOf(answer)?.items ?? [], id);
  const isCut = (): boolean => {
    const page = pageOf(answer);
    return page !== undefined && typeof page.total === "number" && page.total > page.items.length;
  };
  if (itemIn() === undefined && isCut()) answer = await ask({ limit: String(LARGE_PAGE) });
  if (itemIn() === undefined && !isCut())
    await untilListed(world, async () => {
      answer = await ask({});
      return itemIn() !== undefined;
    });
  return { answer, item: itemIn(), isWhole: !isCut() };
};

const itemWith = (items: readonly Item[], id: string): Item | undefined =>
  items.find((one) => typeof one["id"] === "string" && one["id"].toLowerCase() === id.toLowerCase());

/** Reads pages of the service's default size; `page` counts from 0, whatever number the service gives its first. */
type ListReader = (filter: { readonly accountId?: string }, page: number) => Promise<Page | undefined>;

const MOST_PAGES = 40;

/** A reader with its own token, for preparing data; failures of the service read as an empty list. */
export const openList = async (options: {
  readonly target: Pick<Target, "list">;
  readonly accessToken: () => Promise<string>;
  readonly limits: { readonly defaultPage: number };
}): Promise<ListReader> => {
  const accessToken = await unlessUndecided(options.accessToken(), undefined);
  return async (filter, page) => {
    if (accessToken === undefined) return undefined;
    const answer = await unlessUndecided(
      options.target.list({ accessToken, query: { ...filter, page: options.limits.defaultPage + page } }),
      undefined,
    );
    return answer === undefined ? undefined : pageOf(answer);
  };
};

/** Walks pages of the service's default size until one brings nothing new; stops at a limit if the list never ends. */
export const readPages = async (read: ListReader, filter: { readonly accountId?: string }) => {
  const items = new Map<string, { readonly id: string; readonly accountId: string }>();
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const before = items.size;
    for (const { id, accountId } of (await read(filter, page))?.items ?? [])
      if (typeof id === "string" && typeof accountId === "string") items.set(id, { id, accountId });
    if (items.size === before) break;
  }
  return [...items.values()];
};

/** Ids listed for one account, without what a broken filter adds. */
export const readAccount = async (read: ListReader, accountId: string): Promise<readonly string[]> =>
  (await readPages(read, { accountId }))
    .filter((item) => item.accountId.toLowerCase() === accountId.toLowerCase())
    .map(({ id }) => id);

/** What a hook returned for events in one account. */
export interface Told {
  /** How many notifications the account holds once all of them are listed. */
  readonly events: number;
  /** Ids as the hook returned them, in order of the events. */
  readonly told: readonly (string | undefined)[];
  /** Ids that the account held before. */
  readonly existing?: readonly string[];
  /** Whether the ids may be of something other than notifications: the profile does not name their place. */
  readonly mayBeOthers: boolean;
}

export const OTHERS_NOTE =
  "hooks.events.trigger returns ids of something other than notifications, so notifications are found through the list; name the place of the id with `result`, if the answer has it";

/** Whether a list shows every notification of the account, if under other ids than the hook returned. */
export const isListed = (batch: Told, ids: readonly string[]): boolean => {
  const seen = new Set(ids.map(fold));
  const areSeen = (some: Told["told"]): boolean => some.every((id) => id === undefined || seen.has(fold(id)));
  return (
    seen.size >= batch.events &&
    areSeen(batch.existing ?? []) &&
    (areSeen(batch.told) || isOfOthers(batch, ids))
  );
};

/**
 * Whether the ids that a hook returned are of something else, such as of jobs: some account holds exactly what was
 * triggered, and no account any of these ids.
 */
export const areOthers = (batches: readonly Told[], ids: readonly (readonly string[])[]): boolean =>
  batches.some((batch, index) => isOfOthers(batch, ids[index] ?? [])) &&
  !batches.some((batch, index) => showsAny(batch, ids[index] ?? []));

const isOfOthers = (batch: Told, ids: readonly string[]): boolean =>
  batch.mayBeOthers &&
  new Set(ids.map(fold)).size === batch.events &&
  batch.told.some((id) => id !== undefined) &&
  !showsAny(batch, ids);

const showsAny = ({ told }: Told, ids: readonly string[]): boolean => {
  const seen = new Set(ids.map(fold));
  return told.some((id) => id !== undefined && seen.has(fold(id)));
};
