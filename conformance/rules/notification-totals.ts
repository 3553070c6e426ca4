import fc from "fast-check";
import { limits, pagesIn } from "../arbitraries/paging.ts";
import { fail, expectThat, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import {
  asked,
  greatestLimit,
  leastInAll,
  openLists,
  readPages,
  vouchedLimit,
  whileSteady,
  whileTotalStands,
  type List,
  type ListQuery,
} from "./shared/lists.ts";
import type { Rules, Judge } from "../checks/rule.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";

/** Section 4.4: total. */
export const notificationTotalRules = {
  "notifications.total": {
    needs: ["notifications"],
    check: async (world, run) => {
      const greatest = await greatestLimit(world);
      const questions = questionsOf(world);
      const everyQuestion = questions.flatMap((question) => [
        { question, limit: undefined, page: undefined },
        { question, limit: 1, page: 0 },
        { question, limit: undefined, page: 1 },
      ]);
      const examples = questions.slice(0, 1).map((question) => ({ question, limit: 2, page: 1 }));
      return run.all([
        run.forEach(everyQuestion, totalIsTheNumber, { part: "every filter", print: printCounted }),
        run.forAll(counted(world, questions, greatest), totalIsTheNumber, { print: printCounted, examples }),
        run.once(async (world) => await totalOfAll(world, vouchedLimit(world, greatest)), {
          part: "unfiltered",
        }),
      ]);
    },
  },
} satisfies Rules;

/** How many pages of the whole list are counted. */
const MOST_PAGES = 18;

interface Question {
  readonly filter: ListQuery;
  readonly matches: number;
  readonly account: AccountSet;
  readonly what: string;
}

const questionsOf = ({ prepared: { notifications } }: World): readonly Question[] => {
  const { accounts, emptyAccountId } = notifications;
  const byAccount = accounts.map((account) => ({
    account,
    filter: { accountId: account.accountId },
    matches: account.ids.length,
    what: `accountId of ${account.ids.length} notifications`,
  }));
  const [first] = accounts;
  if (first === undefined) return byAccount;
  const { accountId } = first;
  const id = first.ids[0] ?? "";
  const other = accounts[1]?.accountId ?? emptyAccountId;
  return [
    ...byAccount,
    { account: first, filter: { id }, matches: 1, what: "id" },
    { account: first, filter: { id: first.ids.at(-1) ?? "" }, matches: 1, what: "id of the last" },
    { account: first, filter: { id, accountId }, matches: 1, what: "id and its accountId" },
    { account: first, filter: { id, accountId: other }, matches: 0, what: "id and another accountId" },
    {
      account: first,
      filter: { accountId: emptyAccountId },
      matches: 0,
      what: "accountId without notifications",
    },
    { account: first, filter: { id: emptyAccountId }, matches: 0, what: "id of no notification" },
  ];
};

interface Counted {
  readonly question: Question;
  readonly limit: number | undefined;
  readonly page: number | undefined;
}

/** Mostly existing pages of filters that match something; sometimes one past the end. */
const counted = (world: World, questions: readonly Question[], greatest: number): fc.Arbitrary<Counted> =>
  fc.constantFrom(...questions.filter(({ matches }) => matches > 0)).chain((question) =>
    limits(question.matches, world.limits.defaultLimit, greatest).chain((limit) => {
      const existing = fc.integer({ min: 0, max: pagesIn(question.matches, limit) - 1 });
      const past = fc.integer({ min: pagesIn(question.matches, limit), max: 40 });
      return fc.record({
        question: fc.constant(question),
        limit: fc.constant(limit),
        page: fc.oneof({ weight: 3, arbitrary: existing }, { weight: 1, arbitrary: past }),
      });
    }),
  );

const printCounted = ({ question, limit, page }: Counted): string =>
  `${question.what}; ${asked({ limit, page })}`;

const totalIsTheNumber: Judge<Counted> = async ({ question, limit, page }, world) => {
  const list = await openLists(world);
  const { filter, matches, account } = question;
  const exists = matches > (page ?? 0) * (limit ?? world.limits.defaultLimit);
  return whileSteady(list, account, async () => {
    const seen = await list({ ...filter, limit, page });
    // If there is nothing to show, a refusal is as good as an empty page.
    if (!seen.served && !exists) return discard("the service refuses a request that nothing matches");
    return expectThat(
      seen.total === matches,
      `total is ${matches}, the number of notifications that match ${question.what}`,
      `with ${asked({ ...filter, limit, page })} it got ${seen.said}`,
    );
  });
};

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
    const least = leastInAll(world);
    const totals = new Set<unknown>();
    for (const query of shapes) {
      const { served, total, said } = await list(query);
      if (!served) continue;
      totals.add(total);
      if (typeof total !== "number" || total < least)
        return fail(
          `total of the whole list is at least ${least}, the number of known notifications`,
          `with ${asked(query)} it got ${said}`,
        );
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
