import { describe, expect, it } from "vitest";
import { behaviourFrom } from "../../fake-server/registry.ts";
import { rulesOf } from "../checks/rule.ts";
import { ruleFor } from "../testing/seeded.ts";
import type { Profile } from "../contract/profile.ts";
import type { RuleResult } from "../contract/record.ts";
import { judgeAll, type BenchOptions } from "../testing/judge.ts";
import { startProber } from "../testing/surroundings.ts";
import { freePort } from "../testing/servers.ts";
import { pushListed } from "./push-listed.ts";
import { pushObservations, pushRules } from "./push.ts";

const all = [...rulesOf(pushRules), ...rulesOf(pushListed), ...rulesOf(pushObservations)];

const verdicts = async (options: BenchOptions = {}, rules: Parameters<typeof judgeAll>[0] = all) => {
  const results = await judgeAll(rules, options);
  return new Map<string, RuleResult["verdict"]>(results.map(({ id, verdict }) => [id, verdict]));
};

const kinds = (judged: ReadonlyMap<string, RuleResult["verdict"]>): readonly string[] => [
  ...new Set([...judged.values()].map(({ kind }) => kind)),
];

describe("on a virtual clock", () => {
  // That every reading is distinguished from all others is tested on traces, and that each sender follows its own on the fake.
  it("push-reading-r6-from-failure fails the cap under R6, confirmed by a second push run", async () => {
    const [cap, schedule] = await judgeAll([ruleFor("push.cap"), ruleFor("push.schedule")], {
      behaviour: "push-reading-r6-from-failure",
      effort: "standard",
    });
    const actual = expect.stringContaining("R6");
    expect(cap?.verdict).toMatchObject({
      kind: "failed",
      breach: { actual, reproduction: { replayed: { failures: 1, attempts: 1 } } },
    });
    expect(schedule?.verdict).toMatchObject({
      kind: "failed",
      facts: { readings: ["R6"], anchors: ["failure"] },
      breach: { actual },
    });
    expect(cap?.exchanges).toHaveLength(6);
    expect(cap?.exchanges[0]).toMatchObject({ request: { method: "POST", path: "/service/webhook" } });
  });

  it("what depends on the time of day shows in a second push run too", async () => {
    const [schedule] = await judgeAll([ruleFor("push.schedule")], {
      behaviour: "push-minutes-without-carry",
      effort: "standard",
    });
    expect(schedule?.verdict).toMatchObject({
      kind: "failed",
      breach: { reproduction: { replayed: { failures: 1, attempts: 1 } } },
    });
  });

  it.each([
    [
      "fails",
      false,
      { kind: "failed", breach: { reproduction: { replayed: { failures: 0, attempts: 1 } } } },
    ],
    [
      "is inconclusive if a connection ended without a request",
      true,
      { kind: "inconclusive", reason: expect.stringContaining("a second one did not") },
    ],
  ])("a push that is missing in one of two push runs %s", async (_, isProbed, verdict) => {
    const port = await freePort();
    const prober = isProbed ? startProber(port, 50, ["shakes hands"]) : undefined;
    const [result] = await judgeAll([ruleFor("push.unacknowledged-retries")], {
      behaviour: missingOnce(),
      effort: "standard",
      // A push fewer than usual: a push run stops the clock less often.
      limits: { pushDelaysMs: [30_000, 60_000, 120_000], maxPushes: 4 },
      receiver: { port },
    });
    await prober?.stop();
    expect(result?.verdict).toMatchObject(verdict);
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

describe("over plain HTTP", () => {
  it("rules pass, and the certificate check does not apply", async () => {
    const selected = all.filter(({ requirement }) =>
      ["push.certificate-check", "push.payload", "push.same-notification"].includes(requirement),
    );
    const judged = await verdicts({ receiver: { scheme: "http" } }, selected);
    expect(judged.get("push.certificate-check")).toMatchObject({ kind: "not-applicable" });
    expect(kinds(judged).toSorted()).toEqual(["not-applicable", "passed"]);
  });
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
    const judged = await verdicts({ profile }, [ruleFor("push.delivered")]);
    const reason = expect.stringContaining(word) as string;
    expect(judged.get("push.delivered")).toMatchObject({ kind: "could-not-run", missing, reason });
  });
});
