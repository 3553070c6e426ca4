import { brokenBy, discard, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { asked, listBreach, type Known, type ListQuery, type ListRule } from "../judging/laws/lists.ts";
import { difference } from "../judging/laws/pages.ts";
import { printLength } from "../arbitraries/paging.ts";
import type { Judge, ListOptions } from "../checks/rule.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { openLists, whileSteady, type List, type Listing, exchangesOf } from "./shared/lists.ts";
import { givenToBeListed } from "../world/listing.ts";

/* List requests, judged by what the oracle says that each must get. */

/** A list request to judge. */
export interface Read {
  readonly query: ListQuery;
  /** Sent right before it; a service must not go by it. */
  readonly before?: ListQuery;
  readonly ofSecondClient?: boolean;
}

export const knownIn = ({ prepared: { notifications }, limits: { defaultLimit } }: World): Known => ({
  accounts: notifications.accounts,
  defaultLimit,
});

/** The account that a query names, or whose notification it names: others may write to it. */
const accountOf = (world: World, { id, accountId }: ListQuery): AccountSet | undefined =>
  world.prepared.notifications.accounts.find(
    (account) => account.accountId === accountId || (id !== undefined && account.ids.includes(id)),
  );

/** "accountId, limit=3 of an account with 35 notifications, after one with limit=2, the second client". */
export const printRead =
  (world: World) =>
  ({ query, before, ofSecondClient }: Read): string => {
    const account = query.id === undefined ? accountOf(world, query) : undefined;
    return [
      account === undefined ? asked(query) : `${asked(query)} of ${printLength(account)}`,
      ...(before?.limit === undefined ? [] : [`after one with limit=${before.limit}`]),
      ...(ofSecondClient === true ? ["the second client"] : []),
    ].join(", ");
  };

/** Reads that share a case are printed together, and tried one by one if one of them is wrong. */
export const oneByOne = (world: World) =>
  ({
    print: (reads) => reads.map(printRead(world)).join("; "),
    narrower: (reads) => (reads.length === 1 ? [] : reads.map((read) => [read])),
  }) satisfies ListOptions<readonly Read[]>;

/** How one request is judged, beside the rule. */
interface Allowing {
  /** Begins what is said of it. */
  readonly when?: string;
  /** Whether this answer is no breach after all. */
  readonly allows?: (seen: Listing, query: ListQuery) => boolean;
}

/** Sends one request and judges its answer by this rule. */
export const readOne = (
  world: World,
  list: List,
  rule: ListRule,
  { query, before }: Read,
  { when = "", allows }: Allowing = {},
): Promise<CaseVerdict> =>
  whileSteady(list, accountOf(world, query), async () => {
    if (before !== undefined) await list(before);
    const seen = await list(query);
    const breach = listBreach(rule, knownIn(world), query, seen);
    if (breach === undefined && !seen.served && rule === "notifications.total")
      return discard("the service refuses a request that nothing matches");
    if (breach === undefined || allows?.(seen, query) === true) return pass;
    const wrong = query.id === undefined || !seen.served ? undefined : difference([query.id], seen.ids);
    const got = wrong === undefined ? seen.said : `${seen.said} (${wrong})`;
    return verdictOf(breach, () => `${when}with ${asked(query)} it got ${got}`);
  });

/** The same for several, one after another, up to the first that is wrong. */
export const readAll = async (
  world: World,
  list: List,
  rule: ListRule,
  reads: readonly Read[],
  allowing: Allowing = {},
): Promise<CaseVerdict> => {
  let together = discard("there is nothing to read");
  for (const read of reads) {
    const verdict = await readOne(world, list, rule, read, allowing);
    if (verdict.kind === "failed") return brokenBy(printRead(world)(read), verdict);
    if (together.kind !== "passed") together = verdict;
  }
  return together;
};

/** Each of the reads gets what this rule says that it must. */
export const getWhatTheyMust =
  (rule: ListRule): Judge<readonly Read[]> =>
  async (reads, world) => {
    const list = await listFor(world, reads[0]);
    return list === undefined ? notShown : readAll(world, list, rule, reads);
  };

export const notShown = discard("the second client is not shown these notifications");

/** The lists of the read's client; undefined if it is not shown the account, since each may be shown only its own. */
export const listFor = async (world: World, read: Read | undefined): Promise<List | undefined> => {
  if (read?.ofSecondClient !== true) return openLists(world);
  const list = await openLists(world, world.secondClient);
  const account = accountOf(world, read.query);
  const shown = await list({ accountId: account?.accountId ?? "", limit: 1 });
  return shown.total === account?.ids.length ? list : undefined;
};

/* Why notifications that a list lacks had to be on it. */

/** What an account certainly holds, and how that is known. */
export interface Certain {
  readonly world: Pick<World, "tolerances" | "clock">;
  /** What the account held before anything was created, by this list; zero in a fresh one. */
  readonly before: number;
  readonly first: Listing;
  /**
   * What is certainly listed: the number, by the first list until something acknowledged was waited for, and those whose
   * ids the hook returned.
   */
  readonly settled: {
    readonly count: number;
    readonly ids: ReadonlySet<string>;
    readonly wasAwaited: boolean;
  };
}

/**
 * Why a list that shows `got` notifications misses some: it had to show at least `least`, which are those with these ids
 * if lists showed them. In words that follow what was seen, with the earlier exchanges that show it.
 */
export const whyMissing = (
  { world, before, first, settled }: Certain,
  { got, least }: { readonly got: number; readonly least: number },
  reads: readonly Listing[],
  ids: Iterable<string>,
): { readonly why: string; readonly shown: readonly number[] } => {
  if (got < settled.count)
    return settled.wasAwaited
      ? { why: `; everything had to be listed ${givenToBeListed(world)}`, shown: [] }
      : { why: `; before anything was created, its total was ${before}`, shown: exchangesOf(first) };
  return least > settled.count
    ? { why: `; earlier lists had shown all ${least}`, shown: shownIn(reads, ids) }
    : { why: "", shown: [] };
};

/** The numbers of a few of these exchanges that together showed all these notifications. */
const shownIn = (reads: readonly Listing[], ids: Iterable<string>): readonly number[] => {
  const left = new Set(ids);
  const chosen: Listing[] = [];
  for (;;) {
    const counts = reads.map((read) => read.ids.filter((id) => left.has(id)).length);
    const most = Math.max(0, ...counts);
    const read = reads[counts.indexOf(most)];
    if (most === 0 || read === undefined) return exchangesOf(...chosen);
    chosen.push(read);
    for (const id of read.ids) left.delete(id);
  }
};
