import { describe, expect, it } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

/* What a breach shows: its input, what was seen, and the exchanges that prove it. That it is found is for `touchstone detect`. */

const [authorize, exchange, refresh, list] = ["authorize", "access-token", "refresh-token", "notifications"];
const flow = `${authorize} ${exchange}`;

interface Shown {
  readonly input?: RegExp;
  readonly seen?: RegExp;
  /** The exchanges by their endpoints: what decides it, and what its credentials came from. */
  readonly proof?: string | RegExp;
}

/** Judges a defect by a rule that it breaks. */
const brokenBy = async (id: RequirementId, behaviour: string) => {
  const [result] = await judgeAll([ruleFor(id)], { behaviour });
  if (result === undefined || !("breach" in result.verdict)) throw new Error(JSON.stringify(result));
  const { breach, facts } = result.verdict;
  const proof = result.exchanges.map(
    ({ request }) => /authorize|access-token|refresh-token|notifications/.exec(request.path)?.[0] ?? "push",
  );
  return { ...breach, facts, proof: proof.join(" ") };
};

it.for<readonly [RequirementId, string, Shown]>([
  ["push.listed", "push-not-listed-once-acknowledged", { proof: `${flow} ${list} push` }],
  [
    "notifications.under-writes",
    "list-of-one-kept-for-five-seconds",
    {
      input: /^\d writers? of \d+ events each, read in pages of \d+$/,
      seen: /earlier lists had shown all \d+$/,
    },
  ],
  // One that lacks what had to be listed by then, or what lists showed and another one that does not show it any more.
  ["notifications.under-writes", "writes-hide-list", { proof: new RegExp(`^${flow}( ${list}){1,4}$`) }],
  [
    "notifications.default-limit",
    "access-header-not-read",
    { input: /^accountId of an account with \d+ notifications$/ },
  ],
  [
    "notifications.default-page",
    "default-page-1",
    // Another page is read before, which a service may remember.
    { input: /^accountId of an account with \d+ notifications$/, proof: `${flow} ${list} ${list} ${list}` },
  ],
  [
    "notifications.shape",
    "item-without-remark",
    { input: /^a list request with accountId, page=0$/, proof: `${flow} ${list}` },
  ],
  ["access.header", "access-header-not-read", { seen: /access-token-missing/, proof: `${flow} ${list}` }],
  // The right token is shown the list before, after which a cache may show it to anyone.
  ["access.required", "access-token-by-prefix", { seen: /: status 200/, proof: `${flow} ${list} ${list}` }],
  [
    "access.required",
    "access-refusal-with-total-in-header",
    { seen: /the total in its header x-total-count/ },
  ],
  [
    "refresh.access-token-works",
    "refreshed-access-token-unknown",
    { input: /^1 refresh by the first client$/, proof: `${flow} ${refresh} ${list}` },
  ],
  [
    "refresh.bound-to-client",
    "advice-refresh-token-of-other-client-accepted",
    { proof: `${flow} ${refresh} ${list}` },
  ],
  ["refresh.unknown", "refresh-token-by-prefix", { proof: `${flow} ${refresh} ${list}` }],
  [
    "refresh.unknown-client",
    "refresh-client-checked-five-times",
    { seen: /no clientId at all: it yielded a working accessToken/ },
  ],
  ["refresh.unknown-client", "refresh-client-ignored", { proof: `${flow} ${refresh} ${list}` }],
  [
    "refresh.token-set",
    "refresh-without-timestamp",
    { seen: /^it holds no timestamp, only/, proof: `${flow} ${refresh}` },
  ],
  [
    "refresh.returns-no-refresh-token",
    "refresh-returns-refresh-token-within-another",
    { seen: /^its field idToken contains the refreshToken that was sent: status 200/ },
  ],
  ["refresh.lifetime", "refresh-token-dies-a-day-early", { proof: `${flow} ${refresh}` }],
  ["refresh.reauthorize", "reauthorize-revives-old-refresh-token", { seen: /made it work again/ }],
  [
    "refresh.reusable",
    "refresh-within-a-minute-refused",
    { seen: /the refresh at an age of 2 s was refused/ },
  ],
  ["exchange.token-set", "exchange-expires-in-as-text", { seen: /^expiresIn is "7200"$/, proof: flow }],
  [
    "exchange.token-set",
    "exchange-expires-in-as-text-now-and-then",
    { seen: /exchanges got something else, the first one: expiresIn is "7200"$/ },
  ],
  ["exchange.authenticates-client", "secret-right-at-fifth-attempt", { seen: /sent \d times?: it yielded/ }],
  [
    "exchange.bad-bodies",
    "body-with-repeated-keys",
    { seen: /the right value was accepted both first and last/ },
  ],
  ["code.single-use", "code-reusable", { proof: `${flow} ${exchange} ${list}` }],
  [
    "code.single-use",
    "code-reusable-on-another-connection",
    { proof: `${flow} ${exchange} ${exchange} ${list}` },
  ],
  ["code.single-use", "code-never-granted", { proof: flow }],
  [
    "code.single-use-under-race",
    "code-race-of-five-milliseconds",
    {
      seen: /more than one of \d+ concurrent exchanges of one code got tokens/,
      proof: `${flow} ${exchange}`,
    },
  ],
  [
    "code.independence",
    "code-use-kills-others-of-client",
    {
      input: /^a code of the first client for a shared state: left alone; .* for a shared state: used$/,
      proof: `${authorize} ${authorize} ${exchange} ${exchange}`,
    },
  ],
  ["authorize.redirect-uri-encoded", "redirect-drops-query", { proof: authorize }],
  ["service.survives-bad-input", "advice-bad-input-fails-service", { proof: authorize }],
])("%s shows the breach by %s", async ([id, behaviour, { input = /^/, seen = /^/, proof = /^/ }]) => {
  const broken = await brokenBy(id, behaviour);
  expect(broken.reproduction.counterexample ?? "").toMatch(input);
  expect(broken.actual).toMatch(seen);
  expect(broken.proof).toMatch(typeof proof === "string" ? new RegExp(`^${proof}$`) : proof);
});

describe("inputs that are refused rightly beside others in the same case", () => {
  it.each<readonly [RequirementId, string, RegExp]>([
    [
      "authorize.state-charset",
      "state-with-any-letter",
      /^U\+(?!00[0-7])[\dA-F]+ percent-encoded, (?:alone|at the [\w ]+)$/,
    ],
    ["refresh.unknown", "refresh-token-by-prefix", /^(?:once it was refreshed: )?refreshToken: [^;]+$/],
    ["access.required", "access-open-to-all", /^(?:no token|[^;]+, over 12 connections)$/],
    ["notifications.filter-id", "filter-id-by-prefix", /^"[^"]+"$/],
    [
      "service.survives-bad-input",
      "advice-bad-input-fails-service",
      /^(?:part 1 of the malformed requests|(?:GET|POST) .+)$/,
    ],
  ])("are not among those that %s lists for %s", async (id, behaviour, input) => {
    const { facts } = await brokenBy(id, behaviour);
    const broken = facts?.["broken"] as readonly string[];
    const inputs = broken.map((one) => one.replace(/ \(with the second client\)$/, ""));
    expect(inputs).toEqual(inputs.map(() => expect.stringMatching(input) as string));
    expect(new Set(broken).size).toBe(broken.length);
  });
});
