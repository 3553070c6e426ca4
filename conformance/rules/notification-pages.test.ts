import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/bench.ts";
import { notificationPageRules as rules } from "./notification-pages.ts";

type Broken = (sound: Behaviour) => Partial<Behaviour>;

const judgeWith = (rule: keyof typeof rules, replaces: Broken) =>
  judge(rules[rule], { behaviour: behaviourFrom("made for this test", { summary: "", replaces }) });

test.each(Object.entries(rules))("%s holds on the sound service", async (_name, rule) => {
  const verdict = await judge(rule);
  expect(verdict.kind).toBe("passed");
});

const broken: readonly (readonly [rule: keyof typeof rules, what: string, replaces: Broken])[] = [
  [
    "pagesPartitionTheSet",
    "pages overlap by one",
    () => ({ offsetOf: ({ limit, page }) => limit * page - page }),
  ],
  [
    "pagesPartitionTheSet",
    "one item is lost before the fourth page",
    () => ({ offsetOf: ({ limit, page }) => limit * page + (page >= 3 ? 1 : 0) }),
  ],
  ["pagesPartitionTheSet", "offsets follow the default limit", () => ({ offsetOf: ({ page }) => 10 * page })],
  [
    "pagesPartitionTheSet",
    "every other read has another order",
    () => {
      let reads = 0;
      return { order: () => ((reads += 1) % 2 === 0 ? "id" : "sequence") };
    },
  ],
  [
    "pagesPastTheEndRepeatNothing",
    "the last page comes again",
    () => ({
      offsetOf: ({ limit, page }, matched) =>
        limit * Math.min(page, Math.max(0, Math.ceil(matched / limit) - 1)),
    }),
  ],
  [
    "pagesPastTheEndRepeatNothing",
    "the list starts again right after its end",
    () => ({ offsetOf: ({ limit, page }, matched) => (limit * page === matched ? 0 : limit * page) }),
  ],
  [
    "pagesPastTheEndRepeatNothing",
    "offsets have 32 bits",
    () => ({ offsetOf: ({ limit, page }) => (limit * page) >>> 0 }),
  ],
  [
    "totalCountsWhatMatches",
    "total is that of the page",
    () => ({ total: (_matched, items) => items.length }),
  ],
  [
    "totalCountsWhatMatches",
    "total counts all notifications",
    (sound) => ({
      countMatches: (selection, context) =>
        sound.countMatches({ ...selection, where: "TRUE", parameters: [] }, context),
    }),
  ],
  [
    "totalCountsWhatMatches",
    "total is wrong without a filter only",
    (sound) => ({
      countMatches: (selection, context) =>
        sound.countMatches(selection, context) + (selection.parameters.length === 0 ? 1 : 0),
    }),
  ],
  [
    "totalCountsWhatMatches",
    "total is 0 past the end",
    () => ({ total: (matched, items) => (items.length > 0 ? matched : 0) }),
  ],
];

test.each(broken)("%s fails where %s", async (rule, _what, replaces) => {
  const verdict = await judgeWith(rule, replaces);
  expect(verdict.kind).toBe("failed");
});

test("a failed walk says what is wrong with the set, not which ids", async () => {
  const verdict = await judgeWith("pagesPartitionTheSet", () => ({
    offsetOf: ({ limit, page }) => limit * page - page,
  }));
  expect(verdict).toMatchObject({ breach: { actual: expect.stringMatching(/missing|repeated/) } });
});

const allowed: readonly (readonly [what: string, replaces: Broken])[] = [
  ["the newest come first", () => ({ order: () => "sequence DESC" })],
  [
    "pages that would be empty are refused",
    () => ({ servesPage: ({ limit, page }, matched) => limit * page < matched }),
  ],
  [
    "a refusal is a 200 with empty data",
    (sound) => ({
      servesPage: ({ limit, page }, matched) => limit * page < matched,
      renderRefusal: (_refusal, context) => sound.renderSuccess({ code: 40_401, data: [] }, context),
    }),
  ],
];

test.each(allowed)("every rule holds where %s", async (_what, replaces) => {
  for (const rule of Object.keys(rules) as (keyof typeof rules)[])
    expect({ rule, kind: (await judgeWith(rule, replaces)).kind }).toEqual({ rule, kind: "passed" });
});
