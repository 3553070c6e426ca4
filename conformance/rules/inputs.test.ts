import { expect, test } from "vitest";
import type { RequirementId } from "../contract/catalogue.ts";
import { judge } from "../testing/bench.ts";
import { ruleFor } from "../testing/seeded.ts";

/** Reports show the input of a breach in words. */
test.each<readonly [RequirementId, string, RegExp]>([
  ["refresh.access-token-works", "refreshed-access-token-unknown", /^1 refresh by the first client$/],
  [
    "notifications.default-limit",
    "access-header-not-read",
    /^accountId of an account with \d+ notifications$/,
  ],
  ["notifications.default-page", "default-page-1", /^no limit, an account with \d+ notifications$/],
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
