import { describe, expect, it } from "vitest";
import { parsePlan } from "./plan.ts";

const withAction = (action: unknown) => ({ rules: [{ match: {}, attempts: [{ kind: "answer" }, action] }] });

const withMatch = (match: unknown) => ({ rules: [{ match, attempts: [{ kind: "reset" }] }] });
const kinds = 'accepted are "answer", "hang", "close", "reset"';

describe("a plan", () => {
  it("accepts every action with all of its options", () => {
    const plan = {
      rules: [
        {
          match: {
            notificationId: "n",
            accountId: "a",
            nth: 2,
          },
          attempts: [
            { kind: "answer", status: 429, headers: { "retry-after": "7" }, body: "wrong-id", delayMs: 5 },
            { kind: "answer", body: { json: [1] }, informational: [100, 103, 199] },
            { kind: "answer", body: { bytes: 1_073_741_824 } },
            { kind: "answer", body: { text: "{" } },
            { kind: "answer", status: 204, body: "empty" },
            { kind: "hang", status: 500 },
            { kind: "close", when: "half-answer" },
            { kind: "reset" },
          ],
        },
      ],
      otherwise: { kind: "answer", status: 410 },
    };
    expect(parsePlan(plan)).toEqual(plan);
  });

  it.each([
    [{ kind: "rest" }, 'attempts[1].kind is "rest"', kinds],
    [200, "attempts[1].kind is missing", kinds],
    [null, "attempts[1].kind is missing", kinds],
    [{ kind: "answer", code: 200 }, 'attempts[1] has the unknown key "code"', "accepted are kind, status"],
    [{ kind: "answer", status: 99 }, "attempts[1].status is 99", "must be at least 200"],
    [
      { kind: "answer", body: "ok" },
      'attempts[1].body is "ok"',
      '"acknowledge", "acknowledge-otherwise", "wrong-id"',
    ],
    [{ kind: "close" }, 'attempts[1] lacks the key "when"', ""],
    [
      { kind: "close", when: "later" },
      'attempts[1].when is "later"',
      'accepted are "before-answer", "status-line", "head", "half-answer"',
    ],
    [
      { kind: "answer", status: 204, body: "acknowledge" },
      "attempts[1].body cannot go with status 204",
      '"empty"',
    ],
    [{ kind: "answer", gzip: true }, 'attempts[1] has the unknown key "gzip"', "accepted are kind, status"],
    [{ kind: "answer", informational: [101] }, "attempts[1].informational: 101", "100 and 102 to 199"],
    [
      { kind: "answer", headers: { "Content-Length": "3" } },
      'attempts[1].headers."Content-Length" cannot be set',
      "any but connection",
    ],
    [{ kind: "answer", headers: { trailer: "x-sum" } }, 'attempts[1].headers."trailer" cannot be set', ""],
    [
      { kind: "answer", headers: { a: "b\r\nc: d" } },
      'attempts[1].headers."a" cannot be sent as a header',
      "RFC 9110",
    ],
  ])("with the action %j is refused with key, value and accepted values", (action, problem, accepted) => {
    const message = messageOf(() => parsePlan(withAction(action)));
    expect(message).toContain(problem);
    expect(message).toContain(accepted);
  });

  it.each([
    [
      { rules: [], other: 1 },
      'the plan has the unknown key "other" (did you mean "otherwise"?); accepted are',
    ],
    [{}, 'the plan lacks the key "rules"'],
    [{ rules: [{ match: {}, attempts: [] }] }, "rules[0].attempts is []"],
    [withMatch({ id: "n" }), 'rules[0].match has the unknown key "id"; accepted are notificationId'],
    [withMatch({ nth: 0 }), "rules[0].match.nth is 0"],
    [{ rules: [], otherwise: { kind: "ok" } }, 'otherwise.kind is "ok"'],
    [[], "the plan is []"],
  ])("is refused with its problem: %j", (plan, problem) => {
    expect(messageOf(() => parsePlan(plan))).toContain(problem);
  });

  it("reports all problems at once, each with the file name", () => {
    const message = messageOf(() =>
      parsePlan(
        { rules: [{ match: {}, attempts: [{ kind: "x" }, { kind: "hang", status: 99 }] }] },
        "plan.json",
      ),
    );
    expect(message.split("\n")).toEqual([
      expect.stringMatching(/^plan\.json: rules\[0\]\.attempts\[0\]\.kind is "x"/),
      expect.stringMatching(/^plan\.json: rules\[0\]\.attempts\[1\]\.status is 99/),
    ]);
  });
});

const messageOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof Error && error.name === "ConfigurationError" ? error.message : String(error);
  }
  return "accepted";
};
