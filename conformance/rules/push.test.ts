import { describe, expect, it } from "vitest";
import { behaviourFrom } from "../../fake-server/registry.ts";
import { ruleFor } from "../testing/seeded.ts";
import type { Profile } from "../contract/profile.ts";
import { briefSchedule, judgeAll } from "../testing/judge.ts";
import { startProber } from "../testing/surroundings.ts";
import { freePort } from "../testing/servers.ts";

describe("on a virtual clock", () => {
  it("what depends on the time of day shows in a second push run too", async () => {
    const [schedule] = await judgeAll([ruleFor("push.schedule")], {
      behaviour: "push-minutes-without-carry",
      effort: "standard",
      limits: briefSchedule,
    });
    expect(schedule?.verdict).toMatchObject({
      kind: "failed",
      breach: { reproduction: { replayed: { failures: 1, attempts: 1 } } },
    });
    expect(schedule?.exchanges[0]).toMatchObject({ request: { method: "POST", path: "/service/webhook" } });
  });

  // What two push runs make together is for the tests of verdicts.
  it("a push that is missing in one of two push runs decides nothing if a connection ended without a request", async () => {
    const port = await freePort();
    const prober = startProber(port, 50, ["shakes hands"]);
    const [result] = await judgeAll([ruleFor("push.unacknowledged-retries")], {
      behaviour: missingOnce(),
      effort: "standard",
      // A push fewer than usual: a push run stops the clock less often.
      limits: { pushDelaysMs: [30_000, 60_000, 120_000], maxPushes: 4 },
      receiver: { port, scheme: "https" },
    });
    await prober.stop();
    expect(result?.verdict).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("a second one did not") as string,
    });
  });
});

/** A sender that gives up the first notification that fails three times. */
const missingOnce = () => {
  let missed = 0;
  return behaviourFrom("missing-once", {
    summary: "One notification is not pushed a fourth time.",
    replaces: (sound) => ({
      pushesAgain: (outcome, delivery, service) =>
        (delivery.attempts.length !== 3 || (missed += 1) > 1) &&
        sound.pushesAgain(outcome, delivery, service),
    }),
  });
};

it("the certificate check does not apply over plain HTTP", async () => {
  const [result] = await judgeAll([ruleFor("push.certificate-check")], { receiver: { scheme: "http" } });
  expect(result?.verdict).toMatchObject({ kind: "not-applicable" });
});

describe("push rules", () => {
  type Change = (profile: Profile) => Profile;
  const without =
    (missing: string): Change =>
    ({ hooks = {}, ...profile }) => ({
      ...profile,
      hooks: Object.fromEntries(Object.entries(hooks).filter(([name]) => name !== missing)),
    });
  it.each<readonly [string, string, Change, string]>([
    ["without the hook for events", "events", without("events"), "events"],
    ["without the hook for callback", "callback", without("callback"), "callback"],
    [
      "if the service was not given the receiver's certificate authority",
      "receiver",
      (profile) => JSON.parse(JSON.stringify(profile).replace(',"ca":"{{ca}}"', "")) as Profile,
      "trust",
    ],
  ])("could not run %s", async (_, missing, profile, word) => {
    const [result] = await judgeAll([ruleFor("push.delivered")], { profile, receiver: { scheme: "https" } });
    const reason = expect.stringContaining(word) as string;
    expect(result?.verdict).toMatchObject({ kind: "could-not-run", missing, reason });
  });
});
