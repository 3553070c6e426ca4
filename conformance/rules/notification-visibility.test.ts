import { describe, expect, it } from "vitest";
import { ruleFor } from "../testing/seeded.ts";
import { behaviourFrom, type FakeBehaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/bench.ts";
import { pause } from "../world/clock.ts";

/** A service that indexes in real time, whatever its clock says: each notification is listed this much later. */
const listsAfter = (realMs: number): FakeBehaviour =>
  behaviourFrom("indexes in real time", {
    summary: "of a test",
    replaces: (sound) => ({
      // What comes due after the service has been stopped is lost with it.
      keepNotification: (...of) =>
        void pause(realMs)
          .then(() => sound.keepNotification(...of))
          .catch(() => {}),
    }),
  });

/** Judges with a profile that allows this much time for new notifications to be listed. */
const judgeGranting = (visibilityMs: number | undefined, rule: Parameters<typeof judge>[0], realMs: number) =>
  judge(rule, {
    behaviour: listsAfter(realMs),
    profile: (profile) =>
      visibilityMs === undefined ? profile : { ...profile, tolerances: { visibilityMs } },
  });

describe.each([
  ["notifications.under-writes", ruleFor("notifications.under-writes")],
  ["lifecycle.model", ruleFor("lifecycle.model")],
])("%s with a virtual clock and new notifications listed in real time", (_, rule) => {
  it("passes if they are listed within the time that the profile allows", async () => {
    expect(await judgeGranting(20_000, rule, 60)).toMatchObject({ kind: "passed" });
  });

  it("fails if they are listed later, or if the profile allows no time", async () => {
    expect(await judgeGranting(20, rule, 20_000)).toMatchObject({ kind: "failed" });
    expect(await judgeGranting(undefined, rule, 20_000)).toMatchObject({ kind: "failed" });
  });
});

it("notifications.default-limit passes only if its notifications are listed within the time that the profile allows", async () => {
  const rule = ruleFor("notifications.default-limit");
  expect(await judgeGranting(20_000, rule, 300)).toMatchObject({ kind: "passed" });
  expect(await judgeGranting(20, rule, 20_000)).not.toMatchObject({ kind: "passed" });
});
