import { expect, it } from "vitest";
import type { Endpoint } from "../exchange.ts";
import { answer } from "../testing/answers.ts";
import { grantsNothing } from "./hollow.ts";

const whole = {
  authorize: { state: "s", code: "c", timestamp: 1 },
  exchange: { accessToken: "a", refreshToken: "r", expiresIn: 60, timestamp: 1 },
  refresh: { accessToken: "a", expiresIn: 60, timestamp: 1 },
  list: { data: [], total: 0 },
} as const satisfies Partial<Record<Endpoint, object>>;

it.each(Object.entries(whole))(
  "an answer of %s grants nothing if its success has no content",
  (name, body) => {
    const of = (status: number, text: object | string) =>
      grantsNothing(answer(status, text, { endpoint: name as Endpoint }));
    expect(of(200, body)).toBe(false);
    const json = JSON.stringify(body);
    for (const hollow of [
      { error: "busy" },
      {},
      "",
      "<html>please wait</html>",
      json.slice(0, json.length / 2),
    ])
      expect(of(200, hollow)).toBe(true);
    expect(of(204, "")).toBe(true);
    // By their status these have failed or were refused already.
    for (const status of [0, 400, 503]) expect(of(status, { error: "busy" })).toBe(false);
    // A broken answer breaks a rule instead.
    const { timestamp: _timestamp, ...broken } = { timestamp: 0, ...body };
    expect(of(200, broken)).toBe(false);
  },
);

it("a redirect of authorize grants nothing without a code, and an event hook's answer is not judged", () => {
  const redirect = (location: string) => grantsNothing(answer(302, "", { endpoint: "authorize", location }));
  expect(redirect("https://client.example/cb?code=c&state=s")).toBe(false);
  expect(redirect("https://client.example/cb?error=temporarily_unavailable")).toBe(true);
  expect(grantsNothing(answer(200, "", { endpoint: "trigger" }))).toBe(false);
});
