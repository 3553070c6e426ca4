import { expect, test } from "vitest";
import { judge } from "../testing/judge.ts";
import { ruleFor } from "../testing/seeded.ts";
import { rulesOf } from "../checks/rule.ts";
import { notificationObservations } from "./notification-observations.ts";

const observing = [
  ruleFor("authorize.redirect"),
  ruleFor("authorize.missing-or-unknown-parameters"),
  ruleFor("code.failed-attempt"),
  ruleFor("exchange.errors"),
  ruleFor("service.content-type"),
  ...rulesOf(notificationObservations),
];

test.each(observing)("$requirement records the same fingerprint in two runs", async (rule) => {
  const [first, second] = [await judge(rule, { seed: 1 }), await judge(rule, { seed: 9 })];
  expect(first.kind).toBe("observed");
  expect(second).toEqual(first);
});

const holding = (text: string): unknown => expect.stringContaining(text);

test.each([
  ["code.failed-attempt", "sound", holding('"a wrong secret":"still works"')],
  ["code.failed-attempt", "code-burned-by-failed-attempt", holding('"a wrong secret":"used up"')],
  [
    "exchange.errors",
    "sound",
    holding('"a used code":{"body":"json","fields":["error","message"],"status":400}'),
  ],
  [
    "refresh.previous-access-token",
    "refresh-revokes-previous-access-token",
    '{"exchangedTokenAfterARefresh":"refused","refreshedTokenAfterTheNext":"refused"}',
  ],
  ["notifications.maximum-limit", "sound", '{"greater":"refused with 400","maximum":100}'],
  ["notifications.order", "order-newest-first", '{"order":"newest first"}'],
] as const)("%s observes what the service %s does", async (id, behaviour, fingerprint) => {
  expect(await judge(ruleFor(id), { behaviour })).toMatchObject({ kind: "observed", fingerprint });
});
