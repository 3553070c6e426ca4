import { expect, test } from "vitest";
import { behaviourFrom, type Behaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/bench.ts";
import { notificationObservations } from "./notification-observations.ts";
import { notificationWriteRules } from "./notification-writes.ts";

type Replaces = (sound: Behaviour) => Partial<Behaviour>;

const rule = notificationWriteRules.listsStayTrueWhileNotificationsAreCreated;
const judgeWith = (replaces: Replaces) =>
  judge(rule, { behaviour: behaviourFrom("made for this test", { summary: "", replaces }) });

const allowed: readonly (readonly [what: string, replaces: Replaces])[] = [
  ["everything is sound", () => ({})],
  ["the newest come first", () => ({ order: () => "sequence DESC" })],
  ["ids decide the order", () => ({ order: () => "id" })],
  [
    "new notifications take their time, each another",
    () => {
      let events = 0;
      return { visibilityDelayMs: () => ((events += 1) % 5) * 1_500 };
    },
  ],
  ["access tokens live for a minute", () => ({ accessTokenLifetimeMs: () => 60_000 })],
];

test.each(allowed)("the list stays true where %s", async (_what, replaces) => {
  expect((await judgeWith(replaces)).kind).toBe("passed");
});

const broken: readonly (readonly [what: string, replaces: Replaces])[] = [
  [
    "totals are kept for ever",
    (sound) => {
      const kept = new Map<string, number>();
      return {
        countMatches: (selection, context) => {
          const key = selection.parameters.join();
          const total = kept.get(key) ?? sound.countMatches(selection, context);
          kept.set(key, total);
          return total;
        },
      };
    },
  ],
  [
    "every fifth notification is lost",
    (sound) => {
      let events = 0;
      return {
        keepNotification: (...of) => {
          if ((events += 1) % 5 !== 0) sound.keepNotification(...of);
        },
      };
    },
  ],
  [
    "a page is read in two steps, and a write comes between",
    (sound) => ({
      order: () => "sequence DESC",
      readItems: async (selection, offset, { limit, page }, context) => {
        const half = Math.ceil(limit / 2);
        const first = await sound.readItems(selection, offset, { limit: half, page }, context);
        await context.clock.pause(2);
        const second = await sound.readItems(
          selection,
          offset + half,
          { limit: limit - half, page },
          context,
        );
        return [...first, ...second];
      },
    }),
  ],
];

test.each(broken)("the list does not stay true where %s", async (_what, replaces) => {
  expect((await judgeWith(replaces)).kind).toBe("failed");
});

test.each(Object.entries(notificationObservations))(
  "%s: two runs give the same fingerprint",
  async (_name, observation) => {
    const first = await judge(observation, { seed: 1 });
    const second = await judge(observation, { seed: 2 });
    expect(first.kind).toBe("observed");
    expect(second).toMatchObject({ fingerprint: "fingerprint" in first ? first.fingerprint : "" });
  },
);

test("the greatest limit is found, and what a greater one gets", async () => {
  const verdict = await judge(notificationObservations.theGreatestLimitIs);
  expect(verdict).toMatchObject({ fingerprint: '{"greater":"refused with 400","maximum":100}' });
});

test("the order is told by createTime", async () => {
  const behaviour = behaviourFrom("newest first", {
    summary: "",
    replaces: () => ({ order: () => "sequence DESC" }),
  });
  const verdict = await judge(notificationObservations.theOrderIs, { behaviour });
  expect(verdict).toMatchObject({ fingerprint: '{"order":"newest first"}' });
});
