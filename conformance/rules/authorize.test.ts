import { expect, test, it } from "vitest";
import { codeAndState, redirectTo } from "../../fake-server/answer.ts";
import { parseQuery } from "../../fake-server/requests.ts";
import { withQuery } from "../arbitraries/redirect-uri.ts";
import { judge } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";
import { judgeLooks } from "./authorize.ts";

test("authorize.state-length finds from percent-encoded letters how a service counts bytes", async () => {
  const verdict = await judge(ruleFor("authorize.state-length"));
  expect(verdict).toMatchObject({ kind: "passed", facts: { readings: ["bytes-after-decoding"] } });
});

test("a state is judged even if its refusal comes only over a connection that has carried nothing else", async () => {
  const verdict = await judge(ruleFor("authorize.state-charset"), {
    behaviour: "advice-second-request-hangs",
    profile: (profile) => ({ ...profile, tolerances: { requestTimeoutMs: 1_000 } }),
  });
  expect(verdict).toMatchObject({ kind: "passed", facts: { repeated: expect.any(Number) as number } });
});

test("a code must not lead to an address without a scheme either", async () => {
  const behaviour = behaving((sound) => ({
    acceptsRedirectUri: (redirectUri = "", ...more) =>
      redirectUri.startsWith("//") || sound.acceptsRedirectUri(redirectUri, ...more),
    renderAuthorized: (fields, redirectUri) => redirectTo(withQuery(redirectUri, codeAndState(fields))),
  }));
  const verdict = await judge(ruleFor("authorize.unregistered-redirect"), { behaviour });
  expect(verdict).toMatchObject({
    kind: "warned",
    breach: { actual: expect.stringMatching(/^no scheme /) as string },
  });
});

test("a redirect within the service leads to no other address, even with a code", async () => {
  const registered = new Set<string | undefined>();
  const behaviour = behaving((sound) => ({
    acceptsRedirectUri: (redirectUri, ...more) => {
      if (sound.acceptsRedirectUri(redirectUri, ...more)) registered.add(redirectUri);
      return true;
    },
    renderAuthorized: (fields, redirectUri) =>
      redirectTo(withQuery(registered.has(redirectUri) ? redirectUri : "/consent", codeAndState(fields))),
  }));
  const verdict = await judge(ruleFor("authorize.unregistered-redirect"), { behaviour });
  expect(verdict).toMatchObject({ kind: "passed" });
});

test("unregistered addresses are not judged where codes come in JSON", async () => {
  const behaviour = "authorize-any-redirect-uri";
  const verdict = await judge(ruleFor("authorize.unregistered-redirect"), { behaviour });
  expect(verdict.kind).toBe("not-applicable");
});

test("a parameter that the parser dropped is no state that was accepted", async () => {
  const behaviour = behaving((sound) => ({
    readQuery: (raw) => {
      const isWellFormed = (pair: string): boolean => parseQuery(pair) !== undefined;
      return parseQuery(raw.split("&").filter(isWellFormed).join("&"));
    },
    acceptsState: (state = "", ...more) => state.trim() === "" || sound.acceptsState(state, ...more),
    authorizeFields: (record, ...more) => ({
      ...sound.authorizeFields(record, ...more),
      state: record.state.trim() === "" ? null : record.state,
    }),
  }));
  const verdict = await judge(ruleFor("authorize.state-charset"), { behaviour, effort: "standard" });
  expect(verdict).toMatchObject({ kind: "passed" });
});

test("a state that is not well-formed and comes back is one that was accepted", async () => {
  const behaviour = behaving((sound) => ({
    readQuery: (raw) => parseQuery(raw) ?? parseQuery(raw.replaceAll("%zz", "%25zz")),
    acceptsState: (state = "", ...more) => sound.acceptsState(state.replace("%zz", ""), ...more),
  }));
  const verdict = await judge(ruleFor("authorize.state-charset"), { behaviour });
  expect(verdict).toMatchObject({
    kind: "failed",
    breach: { actual: expect.stringContaining("(%zz)") as string },
  });
});

const ANSWER_MS = 25;

/** Timestamps of six answers in a row and, three seconds later, six more, from two machines in turn. */
const looksAt = (options: {
  readonly startMs: number;
  readonly apartMs: number;
  readonly told: (nowMs: number) => number;
}) =>
  Array.from({ length: 12 }, (_, n) => {
    const nowMs = options.startMs + n * ANSWER_MS + (n < 6 ? 0 : 3_000);
    return {
      timestamp: options.told(nowMs + (n % 2) * options.apartMs),
      at: { earliestMs: nowMs, latestMs: nowMs + ANSWER_MS },
    };
  });

const units = {
  seconds: (nowMs: number) => Math.floor(nowMs / 1_000),
  milliseconds: (nowMs: number) => nowMs,
  "milliseconds of whole seconds": (nowMs: number) => Math.floor(nowMs / 1_000) * 1_000,
  "seconds with a fraction": (nowMs: number) => nowMs / 1_000,
};

/** How it is judged, at every fraction of a second at which it may begin. */
const kindsOf = (unit: keyof typeof units, apartMs: number) => {
  const starts = Array.from({ length: 40 }, (_, n) => 1_700_000_000_000 + n * ANSWER_MS);
  return new Set(starts.map((startMs) => judgeLooks(looksAt({ startMs, apartMs, told: units[unit] })).kind));
};

it.each(Object.keys(units) as (keyof typeof units)[])(
  "two machines whose clocks are a second apart may tell the time in %s",
  (unit) => {
    expect(kindsOf(unit, 1_000)).toEqual(new Set(["passed"]));
    expect(kindsOf(unit, -1_000)).toEqual(new Set(["passed"]));
  },
);

it.each([
  ["seconds", 3_100],
  ["milliseconds", 1_100],
  ["milliseconds of whole seconds", 3_100],
  ["seconds with a fraction", 1_100],
] as const)("two machines that tell the time in %s may not be %d ms apart", (unit, apartMs) => {
  expect(kindsOf(unit, apartMs)).toEqual(new Set(["failed"]));
  expect(kindsOf(unit, -apartMs)).toEqual(new Set(["failed"]));
});
