import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import type { RuleResult } from "../contract/record.ts";
import { authorizeRules } from "./authorize.ts";

type Broken = keyof typeof authorizeRules;
type Replaces = (sound: Behaviour) => Partial<Behaviour>;

const service = (replaces: Replaces) => behaviourFrom("of a test", { summary: "of a test", replaces });
const redirect = (status: number, location: string) => ({ status, headers: { location }, body: "" });
const stateThat =
  (test: (state: string) => boolean): Replaces =>
  () => ({
    acceptsState: (state) => state !== undefined && test(state),
  });
const minted =
  (code: (n: number) => string): Replaces =>
  () => {
    let n = 0;
    return { mintCode: () => code((n += 1)) };
  };
const withAnswer =
  (change: (address: URL, state: string) => void): Replaces =>
  () => ({
    renderAuthorized: (fields, redirectUri) => {
      const url = new URL(redirectUri);
      url.searchParams.append("code", String(fields["code"]));
      url.searchParams.append("state", String(fields["state"]));
      change(url, String(fields["state"]));
      return redirect(302, url.href);
    },
  });

/** What did not pass, shortly. */
const troubles = (results: readonly RuleResult[]): readonly unknown[] =>
  results.flatMap(({ id, verdict }) => {
    if (["passed", "observed", "not-applicable"].includes(verdict.kind)) return [];
    return [[id, verdict.kind, "breach" in verdict ? verdict.breach.actual : ""]];
  });

test("the sound service keeps every promise of authorize", async () => {
  const results = await judgeAll(Object.values(authorizeRules));
  expect(troubles(results)).toEqual([]);
});

const broken: readonly (readonly [rule: Broken, what: string, replaces: Replaces])[] = [
  [
    "validRequestYieldsCodeStateAndTimestamp",
    "gives codes that were never kept",
    () => ({ keepCode: () => undefined }),
  ],
  [
    "validRequestYieldsCodeStateAndTimestamp",
    "redirects elsewhere",
    withAnswer((url) => {
      url.hostname = "elsewhere.example";
    }),
  ],
  [
    "stateComesBackUnchanged",
    "answers with the state of the request before",
    (sound) => {
      let last = "";
      return {
        authorizeFields: (record, timestamp, context) => {
          const state = last === "" ? record.state : last;
          last = record.state;
          return { ...sound.authorizeFields(record, timestamp, context), state };
        },
      };
    },
  ],
  [
    "stateComesBackUnchanged",
    "reads digits as a number",
    (sound) => ({
      authorizeFields: (record, timestamp, context) => ({
        ...sound.authorizeFields(record, timestamp, context),
        state: /^\d+$/.test(record.state) ? String(Number(record.state)) : record.state,
      }),
    }),
  ],
  ["everyCodeIsAnother", "gives the same codes every hundred", minted((n) => `code${n % 60}`)],
  ["codesCannotBeGuessed", "counts", minted((n) => `c0de${"0".repeat(40)}${String(n).padStart(6, "0")}`)],
  ["stateHasOnlyLettersAndDigits", "lets dashes be", stateThat((state) => /^[\w-]{1,128}$/.test(state))],
  [
    "stateHasOnlyLettersAndDigits",
    "asks for letters of any script",
    stateThat((state) => /^[\p{L}\p{N}]+$/u.test(state)),
  ],
  [
    "stateHasOnlyLettersAndDigits",
    "ignores case by folding",
    stateThat((state) => state.length < 129 && /^[a-z0-9]+$/iu.test(state)),
  ],
  [
    "stateHasOnlyLettersAndDigits",
    "looks at the first 100 characters",
    stateThat((state) => state.length < 129 && /^[a-zA-Z0-9]+$/.test(state.slice(0, 100))),
  ],
  [
    "stateHasOnlyLettersAndDigits",
    "looks at lines",
    stateThat((state) => state.length < 129 && /^[a-zA-Z0-9]+$/m.test(state)),
  ],
  [
    "stateHasOnlyLettersAndDigits",
    "trims",
    stateThat((state) => state.length < 129 && /^[a-zA-Z0-9]+$/.test(state.trim())),
  ],
  [
    "stateIsAtMost128BytesLong",
    "counts the bytes less one",
    stateThat((state) => /^[a-zA-Z0-9]{1,129}$/.test(state)),
  ],
  ["stateIsAtMost128BytesLong", "takes 127", stateThat((state) => /^[a-zA-Z0-9]{1,127}$/.test(state))],
  ["stateIsAtMost128BytesLong", "wants two", stateThat((state) => /^[a-zA-Z0-9]{2,128}$/.test(state))],
  [
    "stateIsAtMost128BytesLong",
    "counts in one byte",
    stateThat((state) => /^[a-zA-Z0-9]+$/.test(state) && state.length % 256 <= 128),
  ],
  ["timestampFollowsTheClock", "stands still", () => ({ timestamp: () => 1_700_000_000 })],
  ["timestampFollowsTheClock", "counts minutes", () => ({ timestamp: ({ nowMs }) => nowMs / 60_000 })],
  [
    "timestampFollowsTheClock",
    "keeps the time of the minute",
    () => ({ timestamp: ({ nowMs }) => nowMs - (nowMs % 60_000) }),
  ],
  [
    "timestampFollowsTheClock",
    "tells the second of the hour",
    () => ({ timestamp: ({ nowMs }) => nowMs % 3_600_000 }),
  ],
  [
    "redirectUriIsTakenWhole",
    "decodes nothing",
    () => ({ acceptsRedirectUri: (redirectUri, _client, query) => query.raw.includes(redirectUri ?? "-") }),
  ],
  [
    "redirectUriIsTakenWhole",
    "decodes the query before it splits it",
    (sound) => ({ readQuery: (raw, context) => sound.readQuery(decodeURIComponent(raw), context) }),
  ],
  [
    "redirectUriIsTakenWhole",
    "loses the port",
    withAnswer((url) => {
      url.port = "";
    }),
  ],
  [
    "onlyTheRegisteredAddressGetsTheCode",
    "redirects to whoever asks",
    (sound) => ({
      ...withAnswer(() => undefined)(sound),
      acceptsRedirectUri: (uri) => URL.canParse(uri ?? ""),
    }),
  ],
];

test.each(broken)("%s sees a service that %s", async (rule, _what, replaces) => {
  const verdict = await judge(authorizeRules[rule], { behaviour: service(replaces) });
  expect(verdict.kind).toBe(rule.startsWith("codes") || rule.startsWith("only") ? "warned" : "failed");
});

const others: readonly (readonly [what: string, replaces: Replaces])[] = [
  ["redirects with the code in the query", withAnswer(() => undefined)],
  [
    "redirects with 303 and the code in the fragment",
    () => ({
      renderAuthorized: (fields, redirectUri) =>
        redirect(
          303,
          `${new URL(redirectUri).href}#code=${String(fields["code"])}&state=${String(fields["state"])}`,
        ),
    }),
  ],
  [
    "takes the registered address only, letter for letter",
    () => ({ acceptsRedirectUri: (redirectUri, client) => redirectUri === client.redirectUri }),
  ],
  ["tells the time in seconds", () => ({ timestamp: ({ nowMs }) => Math.floor(nowMs / 1_000) })],
  [
    "gives codes with a label",
    (sound) => ({ mintCode: (...given) => `ac_live_${sound.mintCode(...given)}` }),
  ],
  [
    "refuses with 200 and a field code",
    () => ({
      renderRefusal: () => ({
        status: 200,
        headers: { "content-type": "application/json" },
        body: '{"code":"40001","state":"","message":"refused"}',
      }),
    }),
  ],
  [
    "counts the bytes of the state before decoding",
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) &&
        (/(?:^|&)state=([^&]*)/.exec(query.raw)?.[1] ?? "").length <= 128,
    }),
  ],
  [
    "takes no letter that is percent-encoded",
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) && query.raw.includes(`state=${state}`),
    }),
  ],
  [
    "refuses parameters that it does not know",
    () => ({
      parametersRefusal: ({ values }) =>
        [...values.keys()].some((name) => !["clientId", "state", "redirectUri", "limit"].includes(name))
          ? "parameter-unknown"
          : undefined,
    }),
  ],
];

test.each(others)("a service that %s breaks nothing", async (_what, replaces) => {
  const results = await judgeAll(Object.values(authorizeRules), { behaviour: service(replaces) });
  expect(troubles(results)).toEqual([]);
});

test("how the bytes of a state are counted is read off percent-encoded letters", async () => {
  const verdict = await judge(authorizeRules.stateIsAtMost128BytesLong);
  expect(verdict).toMatchObject({ kind: "passed", facts: { readings: ["bytes-after-decoding"] } });
});

test("equal services give equal fingerprints", async () => {
  const rules = [authorizeRules.whereCodeAndStateArePut, authorizeRules.whatOddParametersGet];
  const [first, second] = [await judgeAll(rules, { seed: 1 }), await judgeAll(rules, { seed: 2 })];
  expect(first.map(({ verdict }) => verdict)).toEqual(second.map(({ verdict }) => verdict));
});
