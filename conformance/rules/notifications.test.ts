import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/bench.ts";
import { notificationRules as rules } from "./notifications.ts";

type Broken = (sound: Behaviour) => Partial<Behaviour>;

const judgeWith = (rule: keyof typeof rules, replaces: Broken) =>
  judge(rules[rule], { behaviour: behaviourFrom("made for this test", { summary: "", replaces }) });

test.each(Object.entries(rules))("%s holds on the sound service", async (_name, rule) => {
  const verdict = await judge(rule);
  expect(verdict.kind).toBe("passed");
});

const broken: readonly (readonly [rule: keyof typeof rules, what: string, replaces: Broken])[] = [
  [
    "itemsHaveTheDocumentedShape",
    "a field is left out",
    () => ({ item: (item) => ({ ...item, remark: undefined }) }),
  ],
  [
    "itemsHaveTheDocumentedShape",
    "milliseconds are left out where they are zero",
    () => ({ item: (item) => ({ ...item, createTime: item.createTime.replace(".000Z", "Z") }) }),
  ],
  [
    "itemsHaveTheDocumentedShape",
    "now and then data is null",
    () => ({ item: (item) => (item.id.charCodeAt(0) % 4 === 0 ? { ...item, data: null } : item) }),
  ],
  ["itemsHaveTheDocumentedShape", "total is text", () => ({ total: (matched) => String(matched) })],
  [
    "itemsHaveTheDocumentedShape",
    "an empty page has no array",
    () => ({ listFields: (data, total) => ({ data: data.length > 0 ? data : null, total }) }),
  ],
  [
    "withoutLimitAPageHoldsTheDefault",
    "the default is one short",
    (sound) => ({ limitFor: (asked, context) => (asked === undefined ? 9 : sound.limitFor(asked, context)) }),
  ],
  [
    "withoutLimitAPageHoldsTheDefault",
    "the last limit becomes the default",
    (sound) => {
      let last: string | undefined;
      return { limitFor: (asked, context) => sound.limitFor((last = asked ?? last), context) };
    },
  ],
  [
    "withoutPageTheFirstIsServed",
    "the default is page 1",
    (sound) => ({ pageFor: (asked, context) => (asked === undefined ? 1 : sound.pageFor(asked, context)) }),
  ],
  [
    "withoutPageTheFirstIsServed",
    "pages count from 1, and 0 means 1",
    (sound) => ({
      offsetOf: ({ limit, page }, ...rest) => sound.offsetOf({ limit, page: Math.max(0, page - 1) }, ...rest),
    }),
  ],
  ["aPageHoldsTheLimitOrWhatRemains", "limit is ignored", () => ({ limitFor: () => 10 })],
  [
    "aPageHoldsTheLimitOrWhatRemains",
    "limits above the default are one short",
    (sound) => ({
      limitFor: (asked, context) => {
        const limit = sound.limitFor(asked, context);
        return limit === undefined || limit <= 10 ? limit : limit - 1;
      },
    }),
  ],
  [
    "aPageHoldsTheLimitOrWhatRemains",
    "the last item of a part-filled page is lost",
    (sound) => ({
      readItems: async (selection, offset, paging, context) => {
        const items = await sound.readItems(selection, offset, paging, context);
        return items.length < paging.limit ? items.slice(0, -1) : items;
      },
    }),
  ],
  [
    "documentedPathsServe",
    "the list is served without a version",
    (sound) => ({
      pathsOf: (operation) => (operation === "list" ? ["/open-api/notifications"] : sound.pathsOf(operation)),
    }),
  ],
  [
    "documentedPathsServe",
    "the refresh endpoint carries a version",
    (sound) => ({
      pathsOf: (operation) =>
        operation === "refresh" ? ["/open-api/v1/oauth/refresh-token"] : sound.pathsOf(operation),
    }),
  ],
];

test.each(broken)("%s fails where %s", async (rule, _what, replaces) => {
  const verdict = await judgeWith(rule, replaces);
  expect(verdict.kind).toBe("failed");
});

const allowed: readonly (readonly [what: string, replaces: Broken])[] = [
  ["the newest come first", () => ({ order: () => "sequence DESC" })],
  [
    "limits above 20 are cut",
    (sound) => ({ limitFor: (asked, context) => Math.min(20, sound.limitFor(asked, context) ?? 20) }),
  ],
  [
    "limits above 25 are refused",
    (sound) => ({
      limitFor: (asked, context) => {
        const limit = sound.limitFor(asked, context);
        return limit !== undefined && limit > 25 ? undefined : limit;
      },
    }),
  ],
  [
    "pages that would be empty are refused",
    () => ({ servesPage: ({ limit, page }, matched) => limit * page < matched }),
  ],
  ["ids are written in capitals", () => ({ item: (item) => ({ ...item, id: item.id.toUpperCase() }) })],
];

test("the paths are not judged by a list that is refused because it would be empty", async () => {
  const verdict = await judgeWith("documentedPathsServe", () => ({
    servesPage: ({ limit, page }, matched) => limit * page < matched,
  }));
  expect(verdict.kind).toBe("inconclusive");
});

test.each(allowed)("every rule holds where %s", async (_what, replaces) => {
  const reading = (Object.keys(rules) as (keyof typeof rules)[]).filter((rule) => "needs" in rules[rule]);
  for (const rule of reading)
    expect({ rule, kind: (await judgeWith(rule, replaces)).kind }).toEqual({ rule, kind: "passed" });
});
