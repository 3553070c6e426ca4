import fc from "fast-check";
import { pagesIn } from "../arbitraries/paging.ts";
import { anyNearMiss, nearMisses, otherSpellings } from "../arbitraries/uuids.ts";
import { brokenBy, fail, expectThat, pass, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { difference, fold } from "../judging/laws/pages.ts";
import { asked, openLists, whileSteady, type List, type Listing, type ListQuery } from "./shared/lists.ts";
import type { ListOptions, Rules, Judge, Run } from "../checks/rule.ts";
import type { Verdict } from "../contract/verdict.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { formsOf, isNothing } from "./notification-shape.ts";
import { inGroups } from "../contract/text.ts";

/** Section 4.4: the filters id and accountId, each on its own and both in one request. */
export const notificationFilterRules = {
  "notifications.filter-id": {
    needs: ["notifications"],
    check: (world, run) => {
      const picked = pickedIds(world);
      const [sample] = picked;
      const uuid = sample?.id ?? world.prepared.notifications.emptyAccountId;
      const strangers = [
        ...nearMisses(uuid),
        world.prepared.notifications.emptyAccountId,
        sample?.account.accountId ?? uuid,
        ...listOf(picked.map(({ id }) => id)),
      ];
      return run.all([
        run.forEach(inGroups(picked, 3), idsGiveTheirOwn, {
          part: "existing ids",
          print: () => "existing ids",
        }),
        ...otherValues(run, "id", uuid, strangers),
      ]);
    },
  },

  "notifications.filter-account": {
    needs: ["notifications"],
    check: (world, run) => {
      const { accounts, emptyAccountId } = world.prepared.notifications;
      const uuid = accounts[0]?.accountId ?? emptyAccountId;
      const strangers = [
        ...nearMisses(uuid),
        emptyAccountId,
        accounts[0]?.ids[0] ?? uuid,
        ...listOf(accounts.map(({ accountId }) => accountId)),
      ];
      return run.all([
        run.forEach(accounts, accountGivesItsOwn, { part: "accounts", print: printAccount }),
        ...otherValues(run, "accountId", uuid, strangers),
      ]);
    },
  },

  "notifications.filters-combine": {
    needs: ["notifications"],
    check: (world, run) => {
      const pairs = pairsOf(world);
      const clashing = fc
        .constantFrom(...pairs)
        .chain((pair) => fc.constantFrom(...pair.idsOf.ids).map((id) => ({ ...pair, id })));
      return run.all([
        run.forEach(pairs, pairGivesWhatMatchesBoth, { part: "every pair", print: ({ what }) => what }),
        run.forAll(clashing, pairGivesWhatMatchesBoth, { print: ({ what }) => what }),
      ]);
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
  const nothing = onlyMatch(
    { filter, uuid },
    "nothing, so the list is empty and total 0",
    // A store with consecutive ids may know a neighbouring one; a correct match there is not a breach.
    (seen, value) => allHave(seen, filter, value),
  );
  const nothingElse = onlyMatch(
    { filter, uuid },
    `the same as the ${filter} in its usual spelling, or nothing`,
    (seen, _value, control) => seen.total === control.total && allHave(seen, filter, uuid),
  );
  return [
    run.forEach(inGroups(strangers, 6), nothing, { part: "near misses", ...oneByOne }),
    run.forAll(anyNearMiss(uuid), (value, world) => nothing([value], world), {
      part: "generated near misses",
    }),
    run.forEach(inGroups(otherSpellings(uuid), 4), nothingElse, { part: "other spellings", ...oneByOne }),
  ];
};

const oneByOne: ListOptions<readonly string[]> = {
  print: (values) => values.map((value) => JSON.stringify(value)).join(", "),
  narrower: (values) => values.map((value) => [value]),
};

/** Two existing values in one, which is neither of them. */
const listOf = ([one, other]: readonly string[]): readonly string[] =>
  one === undefined || other === undefined ? [] : [`${one},${other}`];

type Filter = "id" | "accountId";

const printAccount = ({ ids }: AccountSet): string => `an account with ${ids.length} notifications`;

interface PickedId {
  readonly id: string;
  readonly account: AccountSet;
}

/** Ids from the beginning, the middle and the end of each account. */
const pickedIds = (world: World): readonly PickedId[] =>
  world.prepared.notifications.accounts.flatMap((account) => {
    const { ids } = account;
    const picked = new Set([ids[0], ids[Math.floor(ids.length / 2)], ids.at(-1)]);
    return [...picked].filter((id) => id !== undefined).map((id) => ({ id, account }));
  });

const isExactly = ({ id, account }: PickedId, seen: Listing): boolean =>
  seen.ids.length === 1 &&
  seen.ids[0] === fold(id) &&
  seen.total === 1 &&
  fold(seen.items[0]?.["accountId"]) === fold(account.accountId);

/** One after another in every form, then concurrently: no answer may belong to another request. */
const idsGiveTheirOwn: Judge<readonly PickedId[]> = async (picked, world) => {
  const list = await openLists(world);
  const expected = "the id filter returns exactly the notification with that id, and total 1";
  for (const one of picked)
    for (const query of formsOf({ id: one.id }, world.limits.defaultLimit)) {
      const seen = await list(query);
      if (!isExactly(one, seen))
        return fail(expected, `with ${asked(query)} of an existing one it got ${wrongness([one.id], seen)}`);
    }
  const together = await Promise.all(picked.map(async (one) => ({ one, seen: await list({ id: one.id }) })));
  const wrong = together.find(({ one, seen }) => !isExactly(one, seen));
  if (wrong === undefined) return pass;
  const got = wrongness([wrong.one.id], wrong.seen);
  return fail(expected, `when several were requested concurrently, one got ${got}`);
};

const wrongness = (ids: readonly string[], seen: Listing): string => {
  const wrong = difference(ids, seen.ids);
  return wrong === undefined ? seen.said : `${seen.said} (${wrong})`;
};

/** These values must match nothing, except what `isAllowed` permits. */
const onlyMatch =
  (
    { filter, uuid }: { readonly filter: Filter; readonly uuid: string },
    expected: string,
    isAllowed: (seen: Listing, value: string, control: Listing) => boolean,
  ): Judge<readonly string[]> =>
  async (values, world) => {
    const list = await openLists(world);
    const control = await list({ [filter]: uuid });
    if (control.ids.length === 0)
      return inconclusive(`an existing ${filter} returns nothing: ${control.said}`);
    for (const value of values) {
      const seen = await list({ [filter]: value });
      if (!isNothing(seen) && !isAllowed(seen, value, control))
        return brokenBy(
          JSON.stringify(value),
          fail(
            `${filter}=${JSON.stringify(value)} matches ${expected}`,
            `it got ${seen.said}; an existing one got ${control.said}`,
          ),
        );
    }
    return pass;
  };

const allHave = ({ items }: Listing, filter: Filter, value: string): boolean =>
  items.length > 0 && items.every((item) => fold(item[filter]) === fold(value));

/** Reads the whole account with another one between its pages: the filter must hold on every page. */
const accountGivesItsOwn: Judge<AccountSet> = async (account, world) => {
  const list = await openLists(world);
  const { accountId, ids } = account;
  const { accounts, emptyAccountId } = world.prepared.notifications;
  const other = accounts.find((one) => one !== account)?.accountId ?? emptyAccountId;
  return whileSteady(list, account, async () => {
    const size = world.limits.defaultLimit;
    for (const query of formsOf({ accountId }, size)) {
      await list({ ...query, accountId: other });
      const seen = await list(query);
      const judgement = belongs(account, query, seen, Math.min(size, ids.length));
      if (judgement.kind !== "passed") return judgement;
    }
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

const belongs = (account: AccountSet, query: ListQuery, seen: Listing, least: number): CaseVerdict => {
  const own = seen.items.every((item) => fold(item["accountId"]) === fold(account.accountId));
  return expectThat(
    own && seen.ids.length >= least && seen.total === account.ids.length,
    `with ${asked(query)} the list returns the account's ${account.ids.length} notifications and that total`,
    own ? `it got ${seen.said}` : `it got ${seen.said}, some of another account`,
  );
};

interface Pair {
  readonly id: string;
  /** The account that the ids come from. */
  readonly idsOf: Pick<AccountSet, "ids">;
  readonly accountId: string;
  readonly matches: boolean;
  readonly what: string;
}

const pairsOf = (world: World): readonly Pair[] => {
  const { accounts, emptyAccountId } = world.prepared.notifications;
  const nobody = { accountId: emptyAccountId, ids: [emptyAccountId] };
  const owners = [...accounts.slice(0, 4), nobody];
  return owners.flatMap((idsOf) =>
    owners.map((owner) => ({
      idsOf,
      id: idsOf.ids.at(-1) ?? emptyAccountId,
      accountId: owner.accountId,
      matches: idsOf === owner && idsOf !== nobody,
      what:
        idsOf === nobody
          ? "an id of no notification"
          : idsOf === owner
            ? "an id with its own accountId"
            : owner === nobody
              ? "an id with an accountId that has no notification"
              : `an id of one of ${idsOf.ids.length} with the accountId of ${owner.ids.length} others`,
    })),
  );
};

const pairGivesWhatMatchesBoth: Judge<Pair> = async ({ id, accountId, matches, what }, world) => {
  const list = await openLists(world);
  const forms = [
    ...formsOf({ id, accountId }, world.limits.defaultLimit),
    { accountId, id },
    { limit: 1, accountId, id },
  ];
  for (const query of forms) {
    const seen = await list(query);
    const right = matches
      ? seen.ids.length === 1 && seen.ids[0] === fold(id) && seen.total === 1
      : isNothing(seen);
    if (!right)
      return fail(
        matches
          ? `${what} returns only that notification, and total 1`
          : `${what} matches nothing, so the list is empty and total 0`,
        `with ${asked(query)} it got ${seen.said}`,
      );
  }
  return matches ? pass : stillThere(list, world);
};

/** Control of pairs that match nothing: the same filters can match. */
const stillThere = async (list: List, world: World): Promise<CaseVerdict> => {
  const [account] = world.prepared.notifications.accounts;
  const id = account?.ids[0];
  if (account === undefined || id === undefined)
    return inconclusive("there is no notification to compare with");
  const control = await list({ id, accountId: account.accountId });
  return control.ids.length > 0 ? pass : inconclusive(`a matching pair returns nothing: ${control.said}`);
};
