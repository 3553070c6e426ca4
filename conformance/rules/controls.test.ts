import { expect, test } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { judge } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

/** Where something never works at all, these rules cannot tell what they are about, and quote what it got instead. */
test.each<readonly [RequirementId, string, RegExp]>([
  ["access.lifetime", "access-header-not-read", /even a fresh accessToken opens no list: status 401/],
  [
    "refresh.lifetime",
    "refreshed-access-token-unknown",
    /even the accessToken of a fresh refreshToken opens no list: status 401/,
  ],
  [
    "service.survives-bad-input",
    "access-header-not-read",
    /even before the malformed input, a valid accessToken opens no list: status 401/,
  ],
])("%s is undecided with the defect %s, and says why", async (id, behaviour, reason) => {
  const verdict = await judge(ruleFor(id), { behaviour });
  expect(verdict).toMatchObject({
    kind: "inconclusive",
    reason: expect.stringMatching(reason) as string,
  });
});

/** What a code yields counts, not whether it is all that was promised. */
test.each<readonly [RequirementId, string]>([
  ["code.lifetime", "code-dies-after-one-minute"],
  ["exchange.bad-bodies", "body-in-array"],
])("%s is decided with %s although no exchange gives a refreshToken", async (id, defect) => {
  const verdict = await judge(ruleFor(id), { behaviour: `exchange-without-refresh-token+${defect}` });
  expect(verdict).toMatchObject({ kind: "failed" });
});

test("an accessToken of a refresh that never works is not said to end early", async () => {
  const verdict = await judge(ruleFor("access.lifetime"), { behaviour: "refreshed-access-token-unknown" });
  expect(verdict).toMatchObject({
    kind: "inconclusive",
    reason: expect.stringContaining("even a fresh accessToken of a refresh opens no list") as string,
  });
});

test("malformed input that breaks the service is reported although valid requests get nothing", async () => {
  const behaviour = "access-header-not-read+advice-bad-input-fails-service";
  const verdict = await judge(ruleFor("service.survives-bad-input"), { behaviour });
  expect(verdict).toMatchObject({
    kind: "warned",
    breach: { actual: expect.stringContaining("got status 500") as string },
  });
});

test.each(["code-reusable-on-another-connection", "code-found-but-for-last-character"])(
  "%s grants exchanges, which are no refusals that leak something",
  async (behaviour) => {
    const verdict = await judge(ruleFor("exchange.refusal-leaks-nothing"), { behaviour });
    expect(verdict).toMatchObject({ kind: "passed" });
  },
);
