import { pagesIn, printLength, nearMisses, otherSpellings } from "../arbitraries/paging.ts";
import { allHold, expectThat, pass, inconclusive } from "../judging/case-verdict.ts";
import type { ListQuery } from "../judging/laws/lists.ts";
import { difference, fold } from "../judging/laws/pages.ts";
import { openLists, whileSteady, type List, type Listing } from "./shared/lists.ts";
import type { Rules, Judge, Run } from "../checks/rule.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { readAll, readOne, type Read } from "./notification-reads.ts";
import { areRefused, type Refusal, type Wrong } from "./refusals.ts";
import { ControlFailed } from "../world/exchange.ts";
import { inGroups } from "../contract/text.ts";

/** Section 4.4: the filters id and accountId, each on its own and both in one request. */
export const notificationFilterRules = {
  "notifications.filter-id": {
    needs: ["notifications"],
    check: (world, run) => {
      const { accounts, emptyAccountId } = world.prepared.notifications;
      const ids = accounts.flatMap(someIds);
      const [uuid = emptyAccountId] = ids;
      const strangers = [emptyAccountId, accounts[0]?.accountId ?? uuid, ...listOf(ids)];
      return run.all([
        run.forEach(inGroups(ids, 3), idsGiveTheirOwn, { part: "existing ids", print: () => "existing ids" }),
        ...otherValues(run, "id", uuid, strangers),
      ]);
    },
  },

  "notifications.filter-account": {
    needs: ["notifications"],
    check: (world, run) => {
      const { accounts, emptyAccountId } = world.prepared.notifications;
      const own = accounts.map(({ accountId }) => accountId);
      const [uuid = emptyAccountId] = own;
      const strangers = [emptyAccountId, accounts[0]?.ids[0] ?? uuid, ...listOf(own)];
      return run.all([
        run.forEach(accounts, accountGivesItsOwn, { part: "accounts", print: printLength }),
        ...otherValues(run, "accountId", uuid, strangers),
      ]);
    },
  },

  "notifications.filters-combine": {
    needs: ["notifications"],
    check: (world, run) => {
      const owners = ownersIn(world);
      const pairs = owners.flatMap((idsOf) =>
        owners.map((owner): Pair => ({ idsOf, owner, id: idsOf.ids.at(-1) ?? "" })),
      );
      return run.forEach(pairs, pairGivesWhatMatchesBoth, { print: printPair });
    },
  },
} satisfies Rules;

/** Other values than the existing one match nothing, and other spellings of it match nothing else. */
const otherValues = (
  run: Run,
  filter: Filter,
  uuid: string,
  strangers: readonly string[],
): readonly Promise<Verdict>[] => {
  const nothing = matching(
    { filter, uuid },
    `a value that is no ${filter} of a notification matches nothing, so the list is empty and total 0`,
    // A store with consecutive ids may know a neighbouring one; a correct match there is not a breach.
    (seen, value) => allHave(seen, filter, value),
  );
  const nothingElse = matching(
    { filter, uuid },
    `another spelling of an ${filter} matches the same as the usual one, or nothing`,
    (seen, _value, control) => seen.total === control.total && allHave(seen, filter, uuid),
  );
  return [
    areRefused(run, nothing, [...nearMisses(uuid), ...strangers].map(rowOf), {
      part: "near misses",
      size: 6,
    }),
    areRefused(run, nothingElse, otherSpellings(uuid).map(rowOf), { part: "other spellings", size: 4 }),
  ];
};

const rowOf = (value: string): Wrong<unknown, string> => ({ name: JSON.stringify(value), of: () => value });

/** What the existing value shows, with the list that shows it. */
interface Shown {
  readonly list: List;
  readonly control: Listing;
}

/** These values must match nothing, except what `isAllowed` permits. */
const matching = (
  { filter, uuid }: { readonly filter: Filter; readonly uuid: string },
  promise: string,
  isAllowed: (seen: Listing, value: string, control: Listing) => boolean,
): Refusal<Shown, string> => ({
  expected: promise,
  right: async (world) => {
    const list = await openLists(world);
    const control = await list({ [filter]: uuid });
    if (control.ids.length > 0) return { list, control };
    throw new ControlFailed(`an existing ${filter} returns nothing: ${control.said}`);
  },
  gain: async (_world, { list, control }, value) => {
    const seen = await list({ [filter]: value });
    const isNothing = seen.ids.length === 0 && (!seen.served || seen.total === 0);
    return isNothing || isAllowed(seen, value, control)
      ? undefined
      : `as the ${filter} it got ${seen.said}; an existing one got ${control.said}`;
  },
});

/** Two existing values in one, which is neither of them. */
const listOf = ([one, other]: readonly string[]): readonly string[] =>
  one === undefined || other === undefined ? [] : [`${one},${other}`];

type Filter = "id" | "accountId";

/** Ids from the beginning, the middle and the end of an account. */
const someIds = ({ ids }: AccountSet): readonly string[] =>
  [...new Set([ids[0], ids[Math.floor(ids.length / 2)], ids.at(-1)])].filter((id) => id !== undefined);

/** The same filters with and without paging, before and after it: a filter may be lost in any of these forms. */
const formsOf = (filters: ListQuery, size: number): readonly Read[] =>
  [
    filters,
    { ...filters, limit: size },
    { ...filters, page: 0 },
    { ...filters, limit: size, page: 0 },
    { page: 0, limit: size, ...filters },
  ].map((query) => ({ query }));

/** One after another in every form, then concurrently: no answer may belong to another request. */
const idsGiveTheirOwn: Judge<readonly string[]> = async (ids, world) => {
  const list = await openLists(world);
  const forms = ids.flatMap((id) => formsOf({ id }, world.limits.defaultLimit));
  const judgement = await readAll(world, list, "notifications.filter-id", forms);
  if (judgement.kind !== "passed") return judgement;
  const when = "requested concurrently with others, ";
  return allHold(
    await Promise.all(
      ids.map((id) => readOne(world, list, "notifications.filter-id", { query: { id } }, { when })),
    ),
  );
};

const allHave = ({ items }: Listing, filter: Filter, value: string): boolean =>
  items.length > 0 && items.every((item) => fold(item[filter]) === fold(value));

/** Reads the whole account with another one between its pages: the filter must hold on every page. */
const accountGivesItsOwn: Judge<AccountSet> = async (account, world) => {
  const list = await openLists(world);
  const { accountId, ids } = account;
  const { accounts, emptyAccountId } = world.prepared.notifications;
  const other = accounts.find((one) => one !== account)?.accountId ?? emptyAccountId;
  const size = world.limits.defaultLimit;
  const reads = formsOf({ accountId }, size).map(({ query }): Read => ({
    query,
    before: { ...query, accountId: other },
  }));
  const judgement = await readAll(world, list, "notifications.filter-account", reads);
  if (judgement.kind !== "passed") return judgement;
  return whileSteady(list, account, async () => {
    const pages = await Promise.all(
      Array.from({ length: pagesIn(ids.length, size) }, (_, page) => list({ accountId, page })),
    );
    const wrong = difference(
      ids,
      pages.flatMap((page) => page.ids),
    );
    return expectThat(
      wrong === undefined,
      `the accountId filter returns exactly the ${ids.length} notifications of the account`,
      `over all pages: ${wrong ?? "none"}`,
    );
  });
};

/** Who may have notifications: an account, or nobody, whose id is that of no notification either. */
interface Owner extends Pick<AccountSet, "accountId" | "ids"> {
  readonly name: string;
}

const ownersIn = ({ prepared: { notifications } }: World): readonly Owner[] => {
  const { accounts, emptyAccountId } = notifications;
  return [
    ...accounts.slice(0, 4).map((account) => ({ ...account, name: printLength(account) })),
    { accountId: emptyAccountId, ids: [emptyAccountId], name: "nobody" },
  ];
};

/** An id of one owner with the accountId of another or of the same. */
interface Pair {
  readonly id: string;
  readonly idsOf: Owner;
  readonly owner: Owner;
}

const printPair = ({ idsOf, owner }: Pair): string =>
  `an id of ${idsOf.name} with ${idsOf === owner ? "its own accountId" : `the accountId of ${owner.name}`}`;

const pairGivesWhatMatchesBoth: Judge<Pair> = async ({ id, idsOf, owner: { accountId } }, world) => {
  const list = await openLists(world);
  const forms = [
    ...formsOf({ id, accountId }, world.limits.defaultLimit),
    { query: { accountId, id } },
    { query: { limit: 1, accountId, id } },
  ];
  const judgement = await readAll(world, list, "notifications.filters-combine", forms);
  const { accounts, emptyAccountId } = world.prepared.notifications;
  const isFound = idsOf.accountId === accountId && accountId !== emptyAccountId;
  const [account] = accounts;
  if (judgement.kind !== "passed" || isFound || account === undefined) return judgement;
  // The control of pairs that match nothing: the same filters can match.
  const control = await list({ id: account.ids[0] ?? "", accountId: account.accountId });
  return control.ids.length > 0 ? pass : inconclusive(`a matching pair returns nothing: ${control.said}`);
};
