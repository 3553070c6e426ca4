import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour, type FakeBehaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/bench.ts";
import { lifecycleRules } from "./lifecycle.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;

const rule = lifecycleRules.everyHistoryAgreesWithTheModel;
const service = (replaces: Replaces): FakeBehaviour =>
  behaviourFrom("of a test", { summary: "of a test", replaces });

test.each([1, 2, 3])("the histories of seed %i reach every state of the sound service", async (seed) => {
  const verdict = await judge(rule, { seed });
  if (verdict.kind !== "passed") throw new Error(JSON.stringify(verdict));
  expect(Object.keys(verdict.facts?.["decisionsByState"] as object).toSorted()).toEqual([
    "access token dead",
    "access token live",
    "code expired",
    "code issued",
    "code used",
    "refresh token invalid",
    "refresh token valid",
  ]);
});

const broken: readonly (readonly [what: string, replaces: Replaces, expected: RegExp])[] = [
  [
    "lets a code that was refused as expired live again after a refresh",
    (sound) => ({
      afterRefresh: (record, previous, context) => {
        sound.afterRefresh(record, previous, context);
        for (const code of context.credentials.codes.values()) code.issuedAtMs = context.nowMs;
      },
    }),
    /exchange of a code is refused \(code expired\)/,
  ],
  [
    "forgets one client's tokens when the other authorizes",
    (sound) => ({
      keepCode: (record, context) => {
        sound.keepCode(record, context);
        for (const token of context.credentials.accessTokens.values())
          if (token.clientId !== record.clientId) token.revoked = true;
      },
    }),
    /listing with an access token succeeds/,
  ],
  [
    "counts a notification of every event twice",
    (sound) => ({ total: (matched, ...rest) => Number(sound.total(matched, ...rest)) * 2 }),
    /notifications, each of an event/,
  ],
  [
    "loses a notification with each refresh",
    (sound) => {
      let refreshes = 0;
      return {
        afterRefresh: (...all) => {
          refreshes += 1;
          sound.afterRefresh(...all);
        },
        keepNotification: (...all) => {
          if (refreshes % 2 === 0) sound.keepNotification(...all);
        },
      };
    },
    /notifications, each of an event/,
  ],
];

test.each(broken)("a history shows that a service %s", async (_what, replaces, expected) => {
  const verdict = await judge(rule, { behaviour: service(replaces) });
  if (verdict.kind !== "failed") throw new Error(JSON.stringify(verdict));
  expect(verdict.breach.expected).toMatch(expected);
  expect(verdict.breach.reproduction).toMatchObject({
    path: expect.any(String),
    counterexample: expect.stringContaining("authorize for client"),
    replayed: { failures: 4, attempts: 4 },
  });
  expect(verdict.breach.evidence.length).toBeGreaterThan(0);
});

test("a service that leaves whatever the document leaves open agrees with the model", async () => {
  const verdict = await judge(rule, {
    behaviour: service((sound) => ({
      afterRefusedExchange: (record) => {
        if (record === undefined) return;
        record.usedAtMs ??= 0;
        if (record.grant !== undefined) record.grant.revoked = true;
      },
      afterRefresh: (record, previous, context) => {
        sound.afterRefresh(record, previous, context);
        previous.revoked = true;
      },
    })),
  });
  expect(verdict.kind).toBe("passed");
});

test("where time cannot be moved, histories still run, and the verdict names the states that they cannot reach", async () => {
  const verdict = await judge(rule, { profile: (profile) => ({ ...profile, hooks: {} }) });
  expect(verdict).toMatchObject({
    kind: "could-not-run",
    missing: "clock.advance",
    reason: expect.stringContaining("refresh token invalid"),
  });
});
