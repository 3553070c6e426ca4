import { anyPage } from "../arbitraries/paging.ts";
import { discard, fail, expectThat, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { asked, listBreach, type ListQuery } from "../judging/laws/lists.ts";
import {
  greatestLimit,
  openLists,
  readPages,
  vouchedLimit,
  whileTotalStands,
  type List,
} from "./shared/lists.ts";
import type { Rules } from "../checks/rule.ts";
import type { World } from "../world/world.ts";
import { getWhatTheyMust, knownIn, oneByOne } from "./notification-reads.ts";

/** Section 4.4: total. */
export const notificationTotalRules = {
  "notifications.total": {
    needs: ["notifications"],
    check: async (world, run) => {
      const greatest = await greatestLimit(world);
      const { accounts } = world.prepared.notifications;
      const { defaultLimit } = world.limits;
      const filters = filtersOf(world);
      const every = filters.flatMap((filter) => [
        [{ query: filter }],
        [{ query: { ...filter, limit: 1, page: 0 } }],
        [{ query: { ...filter, page: 1 } }],
      ]);
      const examples = filters.slice(0, 1).map((filter) => [{ query: { ...filter, limit: 2, page: 1 } }]);
      const isTheNumber = getWhatTheyMust("notifications.total");
      return run.all([
        run.forEach(every, isTheNumber, { part: "every filter", ...oneByOne(world) }),
        run.forAll(
          anyPage(accounts, defaultLimit, greatest, PAST).map((query) => [{ query }]),
          isTheNumber,
          { print: oneByOne(world).print, examples },
        ),
        run.once((caseWorld) => totalOfAll(caseWorld, vouchedLimit(world, greatest)), { part: "unfiltered" }),
      ]);
    },
  },
} satisfies Rules;

/** Filters that match many, one or nothing. */
const filtersOf = ({ prepared: { notifications } }: World): readonly ListQuery[] => {
  const { accounts, emptyAccountId } = notifications;
  const [first, second] = accounts;
  if (first === undefined) return [];
  const { accountId } = first;
  const id = first.ids[0] ?? "";
  return [
    ...accounts.map((account) => ({ accountId: account.accountId })),
    { id },
    { id: first.ids.at(-1) ?? "" },
    { id, accountId },
    { id, accountId: second?.accountId ?? emptyAccountId },
    { accountId: emptyAccountId },
    { id: emptyAccountId },
  ];
};

/** How far past the end a page may be whose total is judged. */
const PAST = 9;

/** How many pages of the whole list are counted. */
const MOST_PAGES = 18;

/** The whole list: its total is the same on every page and, if it can be walked, equals the number of items. */
const totalOfAll = async (world: World, vouched: number): Promise<CaseVerdict> => {
  const list = await openLists(world);
  const shapes: readonly ListQuery[] = [
    {},
    { limit: 1 },
    { limit: vouched },
    { page: 1 },
    { limit: 2, page: 3 },
  ];
  const judgement = await whileTotalStands(list, async () => {
    const totals = new Set<unknown>();
    for (const query of shapes) {
      const seen = await list(query);
      if (!seen.served) continue;
      totals.add(seen.total);
      const breach = listBreach("notifications.total", knownIn(world), query, seen);
      if (breach !== undefined) return verdictOf(breach, () => `with ${asked(query)} it got ${seen.said}`);
    }
    if (totals.size !== 1)
      return fail("total of the whole list is the same on every page", `it was ${[...totals].join(", ")}`);
    return countedTotal(list, Number([...totals][0]), vouched);
  });
  return judgement.kind === "discarded" ? totalsKeepPace(list, shapes) : judgement;
};

/** If others are always writing, each total lies between the one read before it and the one read after it. */
const totalsKeepPace = async (list: List, shapes: readonly ListQuery[]): Promise<CaseVerdict> => {
  const now = async (): Promise<number> => Number((await list({ limit: 1 })).total);
  let before = await now();
  for (const query of shapes) {
    const { served, total, said } = await list(query);
    const after = await now();
    if (!(before <= after)) return discard("somebody else is removing notifications");
    if (served && !(typeof total === "number" && total >= before && total <= after))
      return fail(
        `while others write, total of the whole list lies between the ${before} read before it and the ${after} read after it`,
        `with ${asked(query)} it got ${said}`,
      );
    before = after;
  }
  return pass;
};

const countedTotal = async (list: List, total: number, limit: number): Promise<CaseVerdict> => {
  if (total > limit * MOST_PAGES) return pass;
  const pages = await readPages(list, { limit }, MOST_PAGES + 1);
  const count = new Set(pages.flatMap(({ ids }) => ids)).size;
  return expectThat(
    count === total,
    "total of the whole list is the number of notifications on its pages",
    `total is ${total}, but the pages hold ${count}`,
  );
};
