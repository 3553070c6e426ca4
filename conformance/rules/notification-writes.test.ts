import { expect, test } from "vitest";
import { rulesOf } from "../checks/rule.ts";
import { judge } from "../testing/bench.ts";
import { ruleFor, testDefects, testVariants } from "../testing/seeded.ts";
import { notificationObservations } from "./notification-observations.ts";
import { notificationWriteRules } from "./notification-writes.ts";

testVariants(rulesOf(notificationWriteRules), [
  "sound",
  "order-newest-first",
  "order-by-id",
  "notifications-visible-each-later",
  "access-for-a-minute",
]);

testDefects(["total-kept-for-ever", "writes-lose-every-fifth", "writes-repeat-item-on-page"]);
testDefects({ "list-of-one-kept-for-five-seconds": /earlier lists had shown all \d+$/ });

test.each(rulesOf(notificationObservations))(
  "$requirement records the same fingerprint in two runs",
  async (observation) => {
    const first = await judge(observation, { seed: 1 });
    const second = await judge(observation, { seed: 2 });
    expect(first.kind).toBe("observed");
    expect(second).toMatchObject({ fingerprint: "fingerprint" in first ? first.fingerprint : "" });
  },
);

test("notifications.maximum-limit finds the maximum and how a higher limit is answered", async () => {
  const verdict = await judge(ruleFor("notifications.maximum-limit"));
  expect(verdict).toMatchObject({ fingerprint: '{"greater":"refused with 400","maximum":100}' });
});

test("notifications.order finds the order by createTime", async () => {
  const verdict = await judge(ruleFor("notifications.order"), { behaviour: "order-newest-first" });
  expect(verdict).toMatchObject({ fingerprint: '{"order":"newest first"}' });
});
