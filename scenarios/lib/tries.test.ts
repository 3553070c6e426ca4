import { expect, it } from "vitest";
import { answer } from "./testing/answers.ts";
import { noAnswer } from "../protocol.ts";
import { failureText, inSomeTries, type Failure } from "./tries.ts";

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
const quote = ({ status }: { readonly status: number }): string => `status ${status}`;

it.each([0, 429, 502, 504, 500])("a status %d is tried again", (status) => {
  expect(left(failing(status), undefined)).toEqual({ failure: undefined, pauses: [1], untried: 0 });
});

it("a refusal is not, unless something may not be there yet, and nothing is tried more than three times", () => {
  expect(left(failing(400), undefined)).toMatchObject({ failure: failing(400), pauses: [] });
  expect(left(failing(404, { mayPass: true }), undefined)).toMatchObject({ failure: undefined });
  expect(left(...Array<Failure>(4).fill(failing(502)))).toMatchObject({ pauses: [1, 2], untried: 1 });
});

it("only a refusal is blamed on the profile", () => {
  expect(failureText(failing(400), quote)).toBe(
    "the exchange gave clients[0] (c) no tokens: status 400. Check the client's secret",
  );
  for (const status of [0, 429, 503]) {
    const text = failureText(failing(status), quote);
    expect(text).toMatch(/no tokens in 3 tries, the last time: status \d+\. The service/);
    expect(text).not.toContain("secret");
  }
});

it("a target that answered nothing is told by its reason alone", () => {
  const trouble = noAnswer.say("dial: connection refused (again)");
  expect(noAnswer.reasonIn(trouble)).toBe("dial: connection refused (again)");
  expect(noAnswer.reasonIn(failureText(failing(0), quote))).toBeUndefined();
});
