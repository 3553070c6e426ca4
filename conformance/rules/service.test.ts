import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { judgeAll } from "../testing/bench.ts";
import { ruleFor, judgeDefect, testDefects, testVariants } from "../testing/seeded.ts";
import { serviceRules } from "./service.ts";

test("the sound service passes every rule about bad input and leaks", async () => {
  const results = await judgeAll(rulesOf(serviceRules), { effort: "standard" });
  expect(results.map(({ verdict }) => verdict.kind)).toEqual(["passed", "passed", "observed"]);
});

testDefects([
  "advice-bad-input-fails-service",
  "advice-odd-types-fail-service",
  "advice-bad-query-drops-connection",
  "advice-page-beyond-64-bits-fails-service",
  "advice-refused-paging-shows-database",
  "advice-refusals-show-stack",
  "advice-refusals-show-path",
  "advice-refusals-show-database",
  "advice-answers-show-client",
]);

// Nothing works after the first bad body, so the breach cannot be replayed.
test("a service that a bad body crashes is detected", async () => {
  expect((await judgeDefect("advice-bad-body-ends-service")).verdict.kind).toBe("warned");
});

// An answer may repeat what the request contained.
testVariants([ruleFor("service.leaks-nothing")], ["refusals-show-address-sent"]);
