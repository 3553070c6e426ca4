import { expect, it } from "vitest";
import { quote, failureText, inSomeTries, type Failure } from "./evidence.ts";
import { fieldsIn } from "./exchange.ts";
import { answer } from "./testing/answers.ts";
import { noAnswer } from "../protocol.ts";

const token = "tGzv3JOkF0XG5Qx2TlKWIA";

const shownOf = (json: object): string => {
  const text = JSON.stringify(json);
  const answer = { endpoint: "exchange", method: "POST", path: "/", durationMs: 1 } as const;
  return quote({ ...answer, status: 200, text, fields: fieldsIn(text) });
};

it("a quoted answer does not show tokens that are deeper in it, nor one of another name beside them", () => {
  const next = "KHmy5paMru9s4zQx2TlK";
  const error = { code: "EXPIRED_GRANT_0042" };
  const shown = shownOf({ data: [{ accessToken: token, next }], error });
  expect(shown).not.toContain(token);
  expect(shown).not.toContain(next);
  expect(shown).toContain(error.code);
});

it.each(["accessToken", "refreshToken", "code", "access_token", "refresh_token"])(
  "a quoted answer does not show its %s",
  (name) => {
    const shown = shownOf({ [name]: token, state: "abc" });
    expect(shown).not.toContain(token);
    expect(shown).toContain(name);
  },
);

const failing = (status: number, more: Partial<Failure> = {}): Failure => ({
  what: "the exchange gave clients[0] (c) no tokens",
  answer: answer(status, "body"),
  remedy: "Check the client's secret",
  ...more,
});

/** The failure that is left after steps that go like this, one after the other, and after which tries there were pauses. */
const left = (...outcomes: readonly (Failure | undefined)[]) => {
  const rest = [...outcomes];
  const pauses: number[] = [];
  const failure = inSomeTries(
    () => rest.shift(),
    (after) => void pauses.push(after),
  );
  return { failure, pauses, untried: rest.length };
};

it.each([0, 429, 502, 504, 500])("a status %d is tried again", (status) => {
  expect(left(failing(status), undefined)).toEqual({ failure: undefined, pauses: [1], untried: 0 });
});

it("a refusal is not, unless something may not be there yet, and nothing is tried more than three times", () => {
  expect(left(failing(400), undefined)).toMatchObject({ failure: failing(400), pauses: [] });
  expect(left(failing(404, { mayPass: true }), undefined)).toMatchObject({ failure: undefined });
  expect(left(...Array<Failure>(4).fill(failing(502)))).toMatchObject({ pauses: [1, 2], untried: 1 });
});

it("only a refusal is blamed on the profile", () => {
  expect(failureText(failing(400))).toBe(
    "the exchange gave clients[0] (c) no tokens: status 400, body body. Check the client's secret",
  );
  for (const status of [0, 429, 503]) {
    const text = failureText(failing(status));
    expect(text).toMatch(
      /no tokens in 3 tries, the last time: (no answer \(body\)|status \d+, body body)\. The service/,
    );
    expect(text).not.toContain("secret");
  }
});

it("a target that answered nothing is told by its reason alone", () => {
  const trouble = noAnswer.say("dial: connection refused (again)");
  expect(noAnswer.reasonIn(trouble)).toBe("dial: connection refused (again)");
  expect(noAnswer.reasonIn(failureText(failing(0)))).toBeUndefined();
});
