import { describe, expect, it } from "vitest";
import { behaving, ruleFor } from "../testing/seeded.ts";
import type { FakeBehaviour } from "../../fake-server/index.ts";
import { judge } from "../testing/judge.ts";
import { pause } from "../world/clock.ts";

/** A service that indexes in real time, whatever its clock says: each notification is listed this much later. */
const listsAfter = (realMs: number): FakeBehaviour =>
  behaving((sound) => ({
    // What comes due after the service has been stopped is lost with it.
    keepNotification: (...of) =>
      void pause(realMs)
        .then(() => sound.keepNotification(...of))
        .catch(() => {}),
  }));

/** Judges with a profile that allows this much time for new notifications to be listed. */
const judgeGranting = (visibilityMs: number, rule: Parameters<typeof judge>[0], realMs: number) =>
  judge(rule, {
    behaviour: listsAfter(realMs),
    stopAtBreach: true,
    profile: (profile) => ({ ...profile, tolerances: { visibilityMs } }),
  });

describe.each([ruleFor("notifications.under-writes"), ruleFor("lifecycle.model")])(
  "$requirement with a virtual clock and new notifications listed in real time",
  (rule) => {
    it.each([
      ["passes", "they are listed within the time that the profile allows", 20_000, 60],
      ["fails", "they are listed later", 20, 20_000],
    ])("%s if %s", async (outcome, _, visibilityMs, realMs) => {
      const kind = outcome === "passes" ? "passed" : "failed";
      expect(await judgeGranting(visibilityMs, rule, realMs)).toMatchObject({ kind });
    });
  },
);

it("notifications.default-limit passes only if its notifications are listed within the time that the profile allows", async () => {
  const rule = ruleFor("notifications.default-limit");
  expect(await judgeGranting(20_000, rule, 300)).toMatchObject({ kind: "passed" });
  expect(await judgeGranting(20, rule, 20_000)).not.toMatchObject({ kind: "passed" });
});
