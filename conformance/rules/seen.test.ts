import { expect, test } from "vitest";
import { catalogue } from "../contract/catalogue.ts";
import { judgeDefect } from "../testing/seeded.ts";

/** A breach says what was seen, and its replay fails again. That each defect is detected is for `touchstone detect`. */
const seen: Readonly<Record<string, RegExp>> = {
  "access-refusal-with-total-in-header": /no token: status 401.*, and the total in its header x-total-count/,
  "access-by-id-for-anyone": /an invented token: status 200/,
  "access-token-last-of-list": /list: status 200/,
  "access-token-with-white-space-inside": /a (space|tab) inside the token: status 200/,
  "access-token-in-cookie": /in Cookie: status 200/,
  "access-token-but-for-its-middle": /the token: .*: status 200/,
  "access-header-not-read": /access-token-missing/,
  "code-marked-as-spelt": /again, with white space/,
  "code-race-of-five-milliseconds": /more than one of \d+ concurrent exchanges of one code got tokens/,
  "code-race-refuses-all": /none of \d concurrent exchanges/,
  "code-normalized": /full width/,
  "code-without-dashes": /dash/,
  "code-found-by-pattern": /LIKE wildcard/,
  "advice-code-of-other-client-accepted": /^presented by the other client: it yielded/,
  "advice-reuse-leaves-refresh-token": /still worked after the second exchange/,
  "exchange-timestamp-of-its-start": /returned \d+/,
  "exchange-expires-in-as-text": /^expiresIn is "7200"$/,
  "exchange-with-names-of-the-rfc": /^it got status 200, body/,
  "exchange-of-second-client-without-refresh-token":
    /^it holds no refreshToken, only accessToken, expiresIn, timestamp$/,
  "secret-right-at-fifth-attempt": /sent \d times?: it yielded/,
  "secret-by-longer-half": /without its last character/,
  "client-id-of-plain-object": /without a secret/,
  "exchange-one-token-for-both-purposes": /is also the accessToken of exchange \d+/,
  "access-token-of-first-client-only": /over the same connection it got/,
  "refusal-repeats-request": /the client's secret/,
  "refusal-of-expired-code-shows-stack": /a stack trace of Node\.js/,
  "body-of-lines": /YAML/,
  "body-with-repeated-keys": /the right value was accepted both first and last/,
  "body-in-envelope": /one level down/,
  "body-as-declared-form": /a form under its own content type/,
  "body-as-declared-form-in-parts": /a form in parts/,
  "advice-answers-private": /Cache-Control: private/,
  "advice-refresh-token-from-access-token": /about 0/,
  "refresh-client-checked-five-times": /no clientId at all: it yielded a working accessToken/,
  "refresh-expires-in-null": /^expiresIn is null$/,
  "refresh-with-name-of-the-rfc": /access_token/,
  "refresh-without-timestamp-from-second": /^it holds no timestamp, only accessToken, expiresIn$/,
  "refresh-returns-refresh-token-in-session":
    /its field session .*as a refreshToken|its field session .*contains the refreshToken/,
  "refresh-returns-refresh-token-within-another":
    /^its field idToken contains the refreshToken that was sent: status 200/,
  "refresh-token-usable-ten-times": /refresh 11 was refused/,
  "refresh-within-a-minute-refused": /the refresh at an age of 2 s was refused/,
  "reauthorize-revives-old-refresh-token": /made it work again/,
  "reauthorize-yields-dead-access-token": /the new accessToken does not open the list/,
  "list-of-one-kept-for-five-seconds": /earlier lists had shown all \d+$/,
};

test.for(Object.entries(seen))("the breach by %s says what was seen", async ([name, actual]) => {
  const { verdict, broken } = await judgeDefect(name);
  if (verdict.kind !== "failed" && verdict.kind !== "warned") throw new Error(JSON.stringify(verdict));
  expect(verdict.kind).toBe(catalogue[broken].level === "advisory" ? "warned" : "failed");
  expect(verdict.breach.actual).toMatch(actual);
  expect(verdict.breach.reproduction.replayed.failures).toBeGreaterThan(0);
});
