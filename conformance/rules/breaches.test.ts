import { expect, it } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

/* What a breach shows: the exchanges that prove it, and its input. That it is found is for `touchstone detect`. */

/** Judges a defect by a rule that it breaks; the proof names exchanges by their endpoints. */
const brokenBy = async (id: RequirementId, behaviour: string) => {
  const [result] = await judgeAll([ruleFor(id)], { behaviour });
  if (result === undefined || !("breach" in result.verdict)) throw new Error(JSON.stringify(result));
  const { breach, facts } = result.verdict;
  const proof = result.exchanges.map(
    ({ request }) =>
      /authorize|(?<=access-|refresh-)token|notifications/.exec(request.path)?.[0] ?? "another path",
  );
  return { input: breach.reproduction.counterexample ?? "", facts, proof: proof.join(" ") };
};

/** What decides a breach, and what its credentials came from. */
it.for<readonly [RequirementId, string, string | RegExp, RegExp?]>([
  // One that lacks what had to be listed by then, or what lists showed and another one that does not show it any more.
  ["notifications.under-writes", "writes-hide-list", /^authorize token( notifications){1,4}$/],
  [
    "notifications.default-page",
    "default-page-1",
    // Another page is read before, which a service may remember.
    "authorize token notifications notifications notifications",
    /^accountId of an account with \d+ notifications$/,
  ],
  ["notifications.shape", "item-without-remark", "authorize token notifications", /accountId, page=0$/],
  // The right token is shown the list before, after which a cache may show it to anyone.
  ["access.required", "access-token-by-prefix", "authorize token notifications notifications"],
  ["refresh.access-token-works", "refreshed-access-token-unknown", "authorize token token notifications"],
  ["refresh.unknown", "refresh-token-by-prefix", "authorize token token notifications"],
  ["refresh.lifetime", "refresh-token-dies-a-day-early", "authorize token token"],
  ["exchange.token-set", "exchange-expires-in-as-text", "authorize token"],
  ["code.single-use", "code-reusable", "authorize token token notifications"],
  ["code.single-use-under-race", "code-race-of-five-milliseconds", "authorize token token"],
  [
    "code.independence",
    "code-use-kills-others-of-client",
    "authorize authorize token token",
    /^a code of the first client for a shared state: left alone; .* for a shared state: used$/,
  ],
  ["authorize.redirect-uri-encoded", "redirect-drops-query", "authorize"],
])(
  "%s shows the breach by %s with the exchanges that decide it",
  async ([id, behaviour, proof, input = /^/]) => {
    const broken = await brokenBy(id, behaviour);
    expect(broken.input).toMatch(input);
    expect(broken.proof).toMatch(typeof proof === "string" ? new RegExp(`^${proof}$`) : proof);
  },
);

it.each<readonly [RequirementId, string, RegExp]>([
  [
    "authorize.state-charset",
    "state-with-any-letter",
    /^U\+(?!00[0-7])[\dA-F]+ percent-encoded, (?:alone|at the [\w ]+)$/,
  ],
  ["access.required", "access-open-to-all", /^(?:no token|[^;]+, over 12 connections)$/],
])("%s lists for %s no inputs that were refused rightly in the same case", async (id, behaviour, input) => {
  const { facts } = await brokenBy(id, behaviour);
  const broken = facts?.["broken"] as readonly string[];
  const inputs = broken.map((one) => one.replace(/ \(with the second client\)$/, ""));
  expect(inputs).toEqual(inputs.map(() => expect.stringMatching(input) as string));
  expect(new Set(broken).size).toBe(broken.length);
});
