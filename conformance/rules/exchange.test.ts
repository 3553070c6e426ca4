import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { judge, judgeAll } from "../testing/bench.ts";
import { behaving, judgeDefect, ruleFor, testDefects, testVariants } from "../testing/seeded.ts";
import { exchangeRules } from "./exchange.ts";

const rules = rulesOf(exchangeRules);

test("the sound service passes every rule about exchanges", async () => {
  const results = await judgeAll(rules);
  expect(results.filter(({ verdict }) => !["passed", "observed"].includes(verdict.kind))).toEqual([]);
});

test("a token set that is wrong now and then is described by the field that is wrong", async () => {
  const { verdict } = await judgeDefect("exchange-expires-in-as-text-now-and-then");
  expect(verdict).toMatchObject({
    kind: "failed",
    breach: {
      actual: expect.stringMatching(
        /exchanges got something else, the first one: expiresIn is "7200"$/,
      ) as string,
    },
  });
});

// No exchange succeeds from then on, not even the one before the body, so the breach cannot be replayed.
test("a service that a body wedges is detected", async () => {
  const { verdict } = await judgeDefect("body-of-15-kb-wedges-service");
  expect(verdict).toMatchObject({
    kind: "failed",
    breach: { actual: expect.stringContaining("a valid exchange failed twice") as string },
  });
});

testDefects({
  "exchange-timestamp-of-its-start": /returned \d+/,
  "exchange-expires-in-as-text": /^expiresIn is "7200"$/,
  "exchange-with-names-of-the-rfc": /^it got status 200, body/,
  "exchange-of-second-client-without-refresh-token":
    /^it holds no refreshToken, only accessToken, expiresIn, timestamp$/,
  "secret-right-at-fifth-attempt": /sent 5 times|working accessToken/,
  "secret-by-longer-half": /without its last character/,
  "client-id-of-plain-object": /without a secret/,
  "exchange-one-token-for-both-purposes": /is also the accessToken of exchange \d+/,
  "access-token-of-first-client-only": /over the same connection it got/,
  "refusal-shows-latest-token": /token/,
  "refusal-repeats-request": /the client's secret/,
  "refusal-of-expired-code-shows-stack": /a stack trace of Node\.js/,
  "body-of-lines": /YAML/,
  "body-with-repeated-keys": /the right value was accepted both first and last/,
  "body-in-envelope": /one level down/,
  "body-as-declared-form": /a form under its own content type/,
  "body-as-declared-form-in-parts": /a form in parts/,
  "advice-answers-private": /Cache-Control: private/,
  "advice-refresh-token-from-access-token": /about 0/,
});

test.each([
  ["sound", []],
  [
    "json-read-leniently",
    [
      "NaN",
      "a brace too many",
      "a comment",
      "text after the object",
      "the object in each of two lines",
      "two objects in a row",
    ],
  ],
])("what is accepted beyond JSON is reported: %s", async (behaviour, acceptedBeyondJson) => {
  const verdict = await judge(ruleFor("exchange.bad-bodies"), { behaviour });
  expect(verdict).toMatchObject({ kind: "passed", facts: { acceptedBeyondJson } });
});

test("repeated fields say nothing where the wrong value alone is accepted", async () => {
  const verdict = await judge(ruleFor("exchange.bad-bodies"), {
    behaviour: "json-read-leniently+secret-by-its-first-eight",
  });
  expect(verdict).toMatchObject({
    kind: "inconclusive",
    reason: expect.stringContaining("a wrong clientSecret is accepted even if it is not repeated") as string,
  });
});

test("a service may take the secret under another name as well", async () => {
  const behaviour = behaving((sound) => ({
    readBody: (raw, context) => {
      const body = sound.readBody(raw, context);
      return body === undefined
        ? undefined
        : { clientSecret: body["client_secret"] ?? body["secret"], ...body };
    },
  }));
  const verdict = await judge(ruleFor("exchange.authenticates-client"), { behaviour });
  expect(verdict).toMatchObject({ kind: "passed" });
});

test("a token of a wrong exchange is not taken for refused where no token is shown the list", async () => {
  const some = [ruleFor("exchange.authenticates-client"), ruleFor("notifications.shape")];
  const results = await judgeAll(some, { behaviour: "secret-ignored+list-one-item-unwrapped" });
  expect(results.map(({ id, verdict }) => [id, verdict.kind])).toEqual([
    ["exchange.authenticates-client", "inconclusive"],
    ["notifications.shape", "failed"],
  ]);
});

testVariants(
  rules,
  [
    "refusals-like-token-sets",
    "code-burned-by-failed-attempt",
    "refusals-show-code-sent",
    "timestamps-in-seconds-of-exchange",
  ],
  ["warned"],
);

/** The clients by UUID, as a column of that type reads it (RFC 9562 section 4). */
const readingUuids = behaving((sound) => {
  const read = (id: unknown) => {
    const digits = String(id).toLowerCase().replaceAll(/[{}-]/g, "");
    return typeof id === "string" && /^[\da-f]{32}$/.test(digits)
      ? digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")
      : id;
  };
  return {
    authenticateClient: (id, ...more) => sound.authenticateClient(read(id), ...more),
    findClientToRefresh: (id, ...more) => sound.findClientToRefresh(read(id), ...more),
  };
});

test("another spelling of a client's UUID is no unknown client", async () => {
  const judged = [ruleFor("exchange.unknown-client"), ruleFor("refresh.unknown-client")];
  const client = { id: "7d3c1f0e-5b1a-4c0e-9f3a-2b6d8e1a9c47" };
  const results = await judgeAll(judged, { behaviour: readingUuids, client });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["passed", "passed"]);
});
