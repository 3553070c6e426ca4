import fc from "fast-check";
import { pagesIn } from "../arbitraries/paging.ts";
import { anyNearMiss, nearMisses, otherSpellings } from "../arbitraries/uuids.ts";
import { broke, expectThat, held, undecided, type Judgement } from "../judgement.ts";
import {
  asked,
  difference,
  fold,
  openLists,
  whileSteady,
  type List,
  type Listing,
  type ListQuery,
} from "../lists.ts";
import type { Rules } from "../rule.ts";
import type { Judge } from "../run.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";

/** Section 4.4: the filters id and accountId, alone and together. */
export const notificationFilterRules = {
  idGivesExactlyThatNotification: {
    requirement: "notifications.filter-id",
    needs: ["notifications"],
    check: (world, run) => {
      const picked = pickedIds(world);
      const [sample] = picked;
      const uuid = sample?.id ?? world.notifications.emptyAccountId;
      const strangers = [
        ...nearMisses(uuid),
        world.notifications.emptyAccountId,
        sample?.account.accountId ?? uuid,
      ];
      return run.all([
        run.forEach(inGroups(picked, 3), idsGiveTheirOwn, {
          part: "existing ids",
          print: () => "existing ids",
        }),
        run.forEach(inGroups(strangers, 6), (values, world) => matchNothing(world, "id", uuid, values), {
          part: "near misses",
        }),
        run.forAll(anyNearMiss(uuid), (value, world) => matchNothing(world, "id", uuid, [value]), {
          part: "generated near misses",
        }),
        run.forEach(
          inGroups(otherSpellings(uuid), 4),
          (values, world) => meanNothingElse(world, "id", uuid, values),
          {
            part: "other spellings",
          },
        ),
      ]);
    },
  },

  accountIdGivesExactlyItsNotifications: {
    requirement: "notifications.filter-account",
    needs: ["notifications"],
    check: (world, run) => {
      const { accounts, emptyAccountId } = world.notifications;
      const uuid = accounts[0]?.accountId ?? emptyAccountId;
      const strangers = [...nearMisses(uuid), emptyAccountId, accounts[0]?.ids[0] ?? uuid];
      return run.all([
        run.forEach(accounts, accountGivesItsOwn, { part: "accounts", print: printAccount }),
        run.forEach(
          inGroups(strangers, 6),
          (values, world) => matchNothing(world, "accountId", uuid, values),
          {
            part: "near misses",
          },
        ),
        run.forAll(anyNearMiss(uuid), (value, world) => matchNothing(world, "accountId", uuid, [value]), {
          part: "generated near misses",
        }),
        run.forEach(
          inGroups(otherSpellings(uuid), 4),
          (values, world) => meanNothingElse(world, "accountId", uuid, values),
          { part: "other spellings" },
        ),
      ]);
    },
  },

  filtersTogetherAreAConjunction: {
    requirement: "notifications.filters-combine",
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

type Filter = "id" | "accountId";

const inGroups = <T>(values: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(values.length / size) }, (_, index) =>
    values.slice(index * size, (index + 1) * size),
  );

const printAccount = ({ ids }: AccountSet): string => `an account with ${ids.length} notifications`;

/** The same filters with and without paging, before and after it: a filter may be lost in any of these forms. */
const formsOf = (filters: ListQuery, size: number): readonly ListQuery[] => [
  filters,
  { ...filters, limit: size },
  { ...filters, page: 0 },
  { ...filters, limit: size, page: 0 },
  { page: 0, limit: size, ...filters },
];

interface PickedId {
  readonly id: string;
  readonly account: AccountSet;
}

/** Ids from the beginning, the middle and the end of each account. */
const pickedIds = (world: World): readonly PickedId[] =>
  world.notifications.accounts.flatMap((account) => {
    const { ids } = account;
    const indices = new Set([0, Math.floor(ids.length / 2), ids.length - 1]);
    return [...indices].flatMap((index) => {
      const id = ids[index];
      return id === undefined ? [] : [{ id, account }];
    });
  });

const isExactly = ({ id, account }: PickedId, seen: Listing): boolean =>
  seen.ids.length === 1 &&
  seen.ids[0] === fold(id) &&
  seen.total === 1 &&
  fold(seen.items[0]?.["accountId"]) === fold(account.accountId);

/** One after the other in every form, then side by side: no answer may be another request's. */
const idsGiveTheirOwn: Judge<readonly PickedId[]> = async (picked, world) => {
  const list = await openLists(world);
  const expected = "the id filter gives exactly the notification with that id, and total 1";
  for (const one of picked)
    for (const query of formsOf({ id: one.id }, world.limits.defaultLimit)) {
      const seen = await list(query);
      if (!isExactly(one, seen))
        return broke(expected, `with ${asked(query)} of an existing one it got ${wrongness([one.id], seen)}`);
    }
  const together = await Promise.all(picked.map(async (one) => ({ one, seen: await list({ id: one.id }) })));
  const wrong = together.find(({ one, seen }) => !isExactly(one, seen));
  return wrong === undefined
    ? held
    : broke(expected, `asked for several at the same time it got ${wrongness([wrong.one.id], wrong.seen)}`);
};

/** What was seen, and how it differs from the ids that should have been. */
const wrongness = (ids: readonly string[], seen: Listing): string => {
  const wrong = difference(ids, seen.ids);
  return wrong === undefined ? seen.said : `${seen.said} (${wrong})`;
};

/** An answer that lists nothing, whether as an empty page or as a refusal. */
const isNothing = (seen: Listing): boolean => seen.ids.length === 0 && (!seen.served || seen.total === 0);

const matchNothing = async (
  world: World,
  filter: Filter,
  uuid: string,
  values: readonly string[],
): Promise<Judgement> => {
  const list = await openLists(world);
  for (const value of values) {
    const seen = await list({ [filter]: value });
    // A store with consecutive ids may know the neighbour of one: what is right there is no breach.
    const right = seen.ids.length > 0 && seen.items.every((item) => fold(item[filter]) === fold(value));
    if (!isNothing(seen) && !right)
      return broke(
        `${filter}=${JSON.stringify(value)} matches nothing, so the list is empty and total 0`,
        `it got ${seen.said}`,
      );
  }
  const control = await list({ [filter]: uuid });
  return control.ids.length > 0 ? held : undecided(`an existing ${filter} gives nothing: ${control.said}`);
};

/** Other spellings of a UUID may be understood, or not; they must not match anything else. */
const meanNothingElse = async (
  world: World,
  filter: Filter,
  uuid: string,
  values: readonly string[],
): Promise<Judgement> => {
  const list = await openLists(world);
  const control = await list({ [filter]: uuid });
  if (control.ids.length === 0) return undecided(`an existing ${filter} gives nothing: ${control.said}`);
  for (const value of values) {
    const seen = await list({ [filter]: value });
    const understood =
      seen.total === control.total && seen.items.every((item) => fold(item[filter]) === fold(uuid));
    if (!isNothing(seen) && !understood)
      return broke(
        `${filter}=${JSON.stringify(value)} matches what the ${filter} in its usual spelling does, or nothing`,
        `it got ${seen.said}, in its usual spelling ${control.said}`,
      );
  }
  return held;
};

/** Reads the account whole, another one between its pages: the filter must hold on each page for itself. */
const accountGivesItsOwn: Judge<AccountSet> = async (account, world) => {
  const list = await openLists(world);
  const { accountId, ids } = account;
  const { accounts, emptyAccountId } = world.notifications;
  const other = accounts.find((one) => one !== account)?.accountId ?? emptyAccountId;
  return whileSteady(list, account, async () => {
    const size = world.limits.defaultLimit;
    for (const query of formsOf({ accountId }, size)) {
      await list({ ...query, accountId: other });
      const seen = await list(query);
      const judgement = belongs(account, query, seen, Math.min(size, ids.length));
      if (judgement.kind !== "held") return judgement;
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
      `the accountId filter gives exactly the ${ids.length} notifications of the account`,
      `over all pages there are ${wrong ?? "none"}`,
    );
  });
};

const belongs = (account: AccountSet, query: ListQuery, seen: Listing, least: number): Judgement => {
  const own = seen.items.every((item) => fold(item["accountId"]) === fold(account.accountId));
  return expectThat(
    own && seen.ids.length >= least && seen.total === account.ids.length,
    `with ${asked(query)} the list gives the account's ${account.ids.length} notifications and that total`,
    own ? `it got ${seen.said}` : `it got ${seen.said}, some of another account`,
  );
};

/** An id and an accountId to ask for together. */
interface Pair {
  readonly id: string;
  /** Where ids of this kind come from. */
  readonly idsOf: Pick<AccountSet, "ids">;
  readonly accountId: string;
  readonly matches: boolean;
  readonly what: string;
}

const pairsOf = (world: World): readonly Pair[] => {
  const { accounts, emptyAccountId } = world.notifications;
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
      return broke(
        matches
          ? `${what} gives that notification alone, and total 1`
          : `${what} matches nothing, so the list is empty and total 0`,
        `with ${asked(query)} it got ${seen.said}`,
      );
  }
  return matches ? held : stillThere(list, world);
};

/** The control of pairs that match nothing: the same filters can match. */
const stillThere = async (list: List, world: World): Promise<Judgement> => {
  const [account] = world.notifications.accounts;
  const id = account?.ids[0];
  if (account === undefined || id === undefined) return undecided("there is no notification to compare with");
  const control = await list({ id, accountId: account.accountId });
  return control.ids.length > 0 ? held : undecided(`a matching pair gives nothing: ${control.said}`);
};
