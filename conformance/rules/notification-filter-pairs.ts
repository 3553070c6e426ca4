import fc from "fast-check";
import { fail, pass, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { fold } from "../judging/laws/pages.ts";
import { asked, openLists, type List } from "./shared/lists.ts";
import type { Rules, Judge } from "../checks/rule.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { formsOf, isNothing } from "./notification-shape.ts";

/** Section 4.4: id and accountId in one request. */
export const notificationPairRules = {
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
