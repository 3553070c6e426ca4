import { expect, test } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { judgeAll } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

/** The exchanges that prove a breach, by their endpoints: what decides it, and what its credentials came from. */
const proofOf = async (id: RequirementId, behaviour: string): Promise<string> =>
  (await provedBy(id, behaviour)).proof;

/** The same, and what the breach says was seen. */
const provedBy = async (
  id: RequirementId,
  behaviour: string,
): Promise<{ readonly proof: string; readonly seen: string }> => {
  const [result] = await judgeAll([ruleFor(id)], { behaviour });
  if (result === undefined || !("breach" in result.verdict)) throw new Error(JSON.stringify(result));
  const proof = result.exchanges.map(
    ({ request }) => /authorize|access-token|refresh-token|notifications/.exec(request.path)?.[0] ?? "push",
  );
  return { proof: proof.join(" "), seen: result.verdict.breach.actual };
};

const [authorize, exchange, refresh, list] = ["authorize", "access-token", "refresh-token", "notifications"];
const flow = `${authorize} ${exchange}`;

test.each<readonly [RequirementId, string, string]>([
  ["push.listed", "push-not-listed-once-acknowledged", `${flow} ${list} push`],
  ["push.listed", "push-listed-a-minute-later", `${flow} ${list} push`],
  ["notifications.under-writes", "access-header-not-read", `${flow} ${list}`],
  ["notifications.default-page", "access-header-not-read", `${flow} ${list}`],
  // Another page is read before, which a service may remember.
  ["notifications.default-page", "default-page-1", `${flow} ${list} ${list} ${list}`],
  ["notifications.shape", "item-without-remark", `${flow} ${list}`],
  ["access.header", "access-header-not-read", `${flow} ${list}`],
  // The right token is shown the list before, after which a cache may show it to anyone.
  ["access.required", "access-token-by-prefix", `${flow} ${list} ${list}`],
  ["refresh.access-token-works", "refreshed-access-token-unknown", `${flow} ${refresh} ${list}`],
  ["refresh.bound-to-client", "advice-refresh-token-of-other-client-accepted", `${flow} ${refresh} ${list}`],
  ["refresh.unknown", "refresh-token-by-prefix", `${flow} ${refresh} ${list}`],
  ["refresh.unknown-client", "refresh-client-ignored", `${flow} ${refresh} ${list}`],
  ["refresh.lifetime", "refresh-token-dies-a-day-early", `${flow} ${refresh}`],
  ["exchange.token-set", "exchange-without-timestamp", flow],
  ["refresh.token-set", "refresh-without-timestamp", `${flow} ${refresh}`],
  ["code.single-use", "code-reusable", `${flow} ${exchange} ${list}`],
  ["code.single-use", "code-reusable-on-another-connection", `${flow} ${exchange} ${exchange} ${list}`],
  ["code.single-use", "code-never-granted", flow],
  ["code.single-use-under-race", "code-race-of-five-milliseconds", `${flow} ${exchange}`],
  [
    "code.independence",
    "code-use-kills-others-of-client",
    `${authorize} ${authorize} ${exchange} ${exchange}`,
  ],
  ["authorize.redirect-uri-encoded", "redirect-drops-query", authorize],
  ["service.survives-bad-input", "advice-bad-input-fails-service", authorize],
])("%s proves its breach by %s with %s", async (id, behaviour, exchanges) => {
  expect(await proofOf(id, behaviour)).toBe(exchanges);
});

// Which read meets the breach first is left to chance, and how many reads showed before what it misses.
test.each([
  // One that lacks what had to be listed by then, or what lists showed and another one that does not show it any more.
  ["writes-hide-list", 1, 4],
])(
  "notifications.under-writes proves its breach by %s with a few of hundreds of lists",
  async (behaviour, least, most) => {
    const { proof, seen } = await provedBy("notifications.under-writes", behaviour);
    const fewest = seen.includes("earlier lists had shown") ? Math.max(least, 2) : least;
    expect(proof).toMatch(new RegExp(`^${flow}( ${list}){${fewest},${most}}$`));
  },
);
