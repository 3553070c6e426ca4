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
  "access-counted-from-authorization": /refused at an age of at most/,
  "access-renewed-in-its-last-minute": /accepted at an age of at least/,
  "access-renewed-by-refresh": /accepted at an age of at least/,
  "access-header-not-read": /access-token-missing/,
  "code-never-granted": /it got status/,
  "code-marked-as-spelt": /again, with white space/,
  "code-reusable-once-tokens-expired": /yielded a working accessToken/,
  "code-reusable-after-wrong-secret": /yielded a working accessToken/,
  "code-race-of-five-milliseconds": /more than one of \d+ concurrent exchanges of one code got tokens/,
  "code-race-refuses-all": /none of \d concurrent exchanges/,
  "code-counted-from-latest-authorization": /accepted at an age/,
  "code-revived-by-trying": /accepted at an age/,
  "code-one-for-each-state": /it got status/,
  "code-unknown-kills-others": /it got status/,
  "code-normalized": /full width/,
  "code-without-dashes": /dash/,
  "code-found-by-pattern": /LIKE wildcard/,
  "advice-code-of-other-client-accepted": /another client/,
  "advice-reuse-leaves-refresh-token": /still worked after the second exchange/,
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
  "refresh-token-counted-from-authorization": /refused at an age of at most/,
  "refresh-token-renewed-in-its-last-hour": /accepted at an age of at least/,
  "refresh-tokens-renewed-by-exchange": /accepted at an age of at least/,
  "refresh-a-day-after-access-expiry-refused": /refused: status 400/,
  "reauthorize-revives-old-refresh-token": /made it work again/,
  "reauthorize-yields-dead-access-token": /the new accessToken does not open the list/,
  "refresh-token-without-dashes": /yielded a working accessToken/,
  "refresh-token-unknown-revokes-others": /while an untouched one works/,
  "refresh-client-by-prefix": /yielded a working accessToken/,
  "refresh-client-in-array-accepted": /in an array: it yielded/,
  "advice-refresh-token-of-other-client-accepted": /yielded a working/,
  "list-of-one-kept-for-five-seconds": /earlier lists had shown all \d+$/,
};

test.for(Object.entries(seen))("the breach by %s says what was seen", async ([name, actual]) => {
  const { verdict, broken } = await judgeDefect(name);
  if (verdict.kind !== "failed" && verdict.kind !== "warned") throw new Error(JSON.stringify(verdict));
  expect(verdict.kind).toBe(catalogue[broken].level === "advisory" ? "warned" : "failed");
  expect(verdict.breach.actual).toMatch(actual);
  expect(verdict.breach.reproduction.replayed.failures).toBeGreaterThan(0);
});
