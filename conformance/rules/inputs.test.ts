import { expect, test } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { judge } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";

/** Reports show the input of a breach in words. */
test.each<readonly [RequirementId, string, RegExp]>([
  ["refresh.access-token-works", "refreshed-access-token-unknown", /^1 refresh by the first client$/],
  [
    "notifications.default-limit",
    "access-header-not-read",
    /^accountId of an account with \d+ notifications$/,
  ],
  ["notifications.default-page", "default-page-1", /^accountId of an account with \d+ notifications$/],
  ["notifications.shape", "item-without-remark", /^a list request with accountId, page=0$/],
  ["notifications.under-writes", "writes-hide-list", /^4 writers of 16 events each, read in pages of 10$/],
  [
    "code.independence",
    "code-use-kills-others-of-client",
    /^a code of the first client for a shared state: left alone; .* for a shared state: used$/,
  ],
])("%s prints the input that shows %s", async (id, behaviour, input) => {
  expect(await judge(ruleFor(id), { behaviour })).toMatchObject({
    breach: { reproduction: { counterexample: expect.stringMatching(input) as string } },
  });
});

/** Inputs that are refused rightly are tried beside them in the same case. */
test.each<readonly [RequirementId, string, RegExp]>([
  [
    "authorize.state-charset",
    "state-with-any-letter",
    /^U\+(?!00[0-7])[\dA-F]+ percent-encoded, (?:alone|at the \w+)$/,
  ],
  ["refresh.unknown", "refresh-token-by-prefix", /^(?:once it was refreshed: )?refreshToken: [^;]+$/],
  ["access.required", "access-open-to-all", /^(?:no token|[^;]+, over 12 connections)$/],
  ["access.required", "access-token-by-prefix", /^the token[^;]+$/],
  ["notifications.filter-id", "filter-id-by-prefix", /^"[^"]+"$/],
  [
    "notifications.past-the-end",
    "past-the-end-wraps",
    /^accountId, (?:limit=\d+, )?page=\d+ of an account with \d+ notifications?$/,
  ],
  [
    "service.survives-bad-input",
    "advice-bad-input-fails-service",
    /^(?:part 1 of the malformed requests|(?:GET|POST) .+)$/,
  ],
])("%s lists single inputs that show %s, each once", async (id, behaviour, input) => {
  const verdict = await judge(ruleFor(id), { behaviour });
  const broken = ("facts" in verdict ? verdict.facts?.["broken"] : undefined) as readonly string[];
  const inputs = broken.map((one) => one.replace(/ \(with the second client\)$/, ""));
  expect(inputs).toEqual(inputs.map(() => expect.stringMatching(input) as string));
  expect(new Set(broken).size).toBe(broken.length);
});
