import { describe, expect, it } from "vitest";
import { parseRule } from "../../plan.ts";
import { acting, unsafeCharacters } from "../../../../reports/testing/hostile.ts";
import { otherwiseWords, outcomeWords, ruleFor, ruleWords, usualActions } from "./answers.ts";

describe("the page's rules", () => {
  it.each(usualActions)("are accepted by the receiver: %s", (_, action) => {
    for (const use of ["all", "next", "account"] as const)
      expect(parseRule(ruleFor(use, "a", action))).toEqual(ruleFor(use, "a", action));
  });

  it("apply to all pushes, the next one, or those of an account", () => {
    const words = (["all", "next", "account"] as const).map((use) =>
      ruleWords(ruleFor(use, "7c9e", { kind: "answer", status: 500 })),
    );
    expect(words).toEqual([
      "all pushes: answer 500",
      "the next push: answer 500",
      "pushes with accountId 7c9e: answer 500",
    ]);
  });

  it("do nothing to the page, whoever wrote the plan", () => {
    const action = { kind: "answer", headers: { [acting]: acting }, body: { json: acting } } as const;
    const rule = { match: { accountId: acting }, attempts: [action] };
    for (const words of [ruleWords(rule), otherwiseWords({ rules: [], otherwise: action })]) {
      expect(words).not.toMatch(unsafeCharacters);
      expect(words).toContain(String.raw`\u202e`);
    }
  });

  it("are described in words, with the default answer", () => {
    expect(
      ruleWords({
        match: { body: { pointer: "/a", equals: 1 }, nth: 2 },
        times: 3,
        attempts: [{ kind: "reset" }, { kind: "answer", body: { json: {} } }],
      }),
    ).toBe(
      'the next 3 pushes with body {"pointer":"/a","equals":1}, nth 2: reset, then answer 200, body {"json":{}}',
    );
    expect(otherwiseWords({ rules: [] })).toBe("otherwise: answer 200");
    expect(
      otherwiseWords({
        rules: [],
        otherwise: { kind: "hang" },
        noNotification: { kind: "answer", status: 400 },
      }),
    ).toBe("otherwise: hang; a body that is not a notification: answer 400");
  });
});

it.each([
  [{ kind: "answered", status: 204 }, "answered 204"],
  [{ kind: "timed-out", message: "no answer" }, "timed out: no answer"],
])("describes the outcome %j", (outcome, words) => {
  expect(outcomeWords(outcome)).toBe(words);
});
