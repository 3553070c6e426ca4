import { expect, test } from "vitest";
import type { Profile } from "../contract/profile.ts";
import type { FakeBehaviour } from "../../fake-server/index.ts";
import { judge, judgeAll } from "../testing/judge.ts";
import { madeNotification } from "../testing/made.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";

/** How refresh.access-token-works ends. The other rule reads notifications, so that the run has some. */
const judgeWorks = async (behaviour: FakeBehaviour, more: Pick<Profile, "accounts"> = {}) => {
  const judged = [ruleFor("refresh.access-token-works"), ruleFor("access.required")];
  const [result] = await judgeAll(judged, {
    behaviour,
    profile: (profile) => ({ ...profile, ...more }),
  });
  return result?.verdict;
};
const named: [string, string] = [
  "0b5f0c7e-61a4-4b7e-9a55-3f1c2d4e5a6b",
  "c2a9d1f4-7e38-4d06-8b1f-90e7a6c5d4b3",
];

test.each([
  ["of the run", {}],
  ["in the profile", { accounts: named }],
])(
  "refresh.access-token-works fails if a refreshed token lists less of an account %s than an exchanged one",
  async (_, more) => {
    const hiding = behaving((sound) => ({
      matching: (filters, viewer, context) =>
        viewer.refreshed ? { where: "FALSE", parameters: [] } : sound.matching(filters, viewer, context),
    }));
    expect(await judgeWorks(hiding, more)).toMatchObject({
      kind: "failed",
      breach: { actual: expect.stringContaining('"total":0') },
    });
  },
);

test("refresh.access-token-works fails if a refreshed token lists more of the run's own account", async () => {
  const unfiltered = behaving((sound) => ({
    matching: ({ id, accountId }, viewer, context) =>
      sound.matching({ id, accountId: viewer.refreshed ? undefined : accountId }, viewer, context),
  }));
  expect(await judgeWorks(unfiltered)).toMatchObject({ kind: "failed" });
});

test("refresh.access-token-works leaves alone what others add to an account in the profile meanwhile", async () => {
  const written = behaving((sound) => ({
    afterRefresh: (record, previous, context) => {
      sound.afterRefresh(record, previous, context);
      for (const accountId of named)
        context.notifications.add({ ...madeNotification, id: context.random.uuid(), accountId, owner: "" });
    },
  }));
  expect(await judgeWorks(written, { accounts: named })).toMatchObject({ kind: "passed" });
});

test("refresh.after-access-expiry does not apply if access tokens outlive the refresh token", async () => {
  const rule = ruleFor("refresh.after-access-expiry");
  expect((await judge(rule, { behaviour: "access-for-forty-days" })).kind).toBe("not-applicable");
});

test("refresh.reusable finds breaches that need no waiting even without a clock hook", async () => {
  const withoutClock = { profile: (profile: { hooks?: object }) => ({ ...profile, hooks: {} }) as never };
  const reusable = ruleFor("refresh.reusable");
  const verdict = await judge(reusable, withoutClock);
  expect(verdict).toMatchObject({ kind: "could-not-run", missing: "clock.advance" });
  const broken = await judge(reusable, { ...withoutClock, behaviour: "refresh-token-usable-once" });
  expect(broken.kind).toBe("failed");
});

test.each(["refresh.unknown", "refresh.unknown-client"] as const)(
  "%s blames no refused refresh where a refreshToken works only once",
  async (rule) => {
    const verdict = await judge(ruleFor(rule), { behaviour: "refresh-token-usable-once" });
    expect(verdict.kind).toBe("inconclusive");
  },
);
