import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { judgeAll } from "../testing/bench.ts";
import { testDefects, testVariants } from "../testing/seeded.ts";
import { accessRules } from "./access.ts";

const rules = rulesOf(accessRules);

test("the sound service passes every rule about access tokens", async () => {
  const results = await judgeAll(rules);
  expect(results.map(({ id, verdict }) => [id, verdict.kind])).toEqual([
    ["access.required", "passed"],
    ["access.header", "passed"],
    ["access.lifetime", "passed"],
  ]);
});

testDefects({
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
});

// Each token is judged by its own expiresIn, and an empty page with an error status counts as a refusal.
testVariants(rules, ["access-lifetimes-differ", "refusals-in-page-envelope", "refusals-counted"]);
