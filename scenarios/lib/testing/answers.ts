import { fieldsIn, type Exchange, type Check } from "../exchange.ts";

/** An exchange with this answer: a JSON body or a literal text; status 0 means no answer. */
export const answer = (
  status: number,
  body: object | string = "",
  more: Partial<Exchange> = {},
): Exchange => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    endpoint: "list",
    method: "GET",
    path: "/somewhere",
    status,
    text,
    fields: fieldsIn(text),
    durationMs: 1,
    ...more,
  };
};

export const rulesOf = (checks: readonly Check[]): readonly string[] => checks.map(({ rule }) => rule);

export const brokenRules = (checks: readonly Check[]): readonly string[] =>
  rulesOf(checks.filter(({ breach }) => breach !== undefined));
