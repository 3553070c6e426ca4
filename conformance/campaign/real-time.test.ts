import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { startReceiver, type RunningReceiver } from "../../fake-server/receiver/index.ts";
import { conform } from "../conform.ts";
import { pushObservations } from "../rules/push-observations.ts";
import { pushRules } from "../rules/push.ts";
import { startFake, type FakeTarget } from "../testing/fake.ts";

/** The document's delays, a hundredth as long. */
const pushDelaysMs = [300, 600, 1_200, 2_400];

const open: (FakeTarget | RunningReceiver)[] = [];
afterAll(async () => {
  await Promise.all(open.map((one) => one.stop()));
});

const judgedInRealTime = async (behaviour: string) => {
  const fake = await startFake({
    behaviour,
    clockMode: "flowing",
    limits: { pushDelaysMs, senderTimeoutMs: 100 },
  });
  const receiver = await startReceiver();
  open.push(fake, receiver);
  const { hooks = {}, ...profile } = (await fake.resolved()).profile;
  const { clock: _, ...rest } = hooks;
  const resolved = await fake.resolved({
    ...profile,
    hooks: rest,
    limits: { pushDelaysMs },
    tolerances: { latenessMs: 250 },
  });
  const { results, notes, clock } = await conform({
    resolved,
    receiver,
    rules: [...Object.values(pushRules), ...Object.values(pushObservations)],
    effort: "quick",
    seed: 1,
    strict: false,
    maxWaitMs: 60_000,
    signal: new AbortController().signal,
    freshUuid: randomUUID,
  });
  return {
    notes,
    clock,
    verdicts: new Map<string, unknown>(results.map(({ id, verdict }) => [id, verdict])),
  };
};

describe("in real time, with shorter limits", () => {
  // Real time has no mercy on a machine that is busy with something else; a sound sender need only manage once.
  it("a sound sender keeps every rule, and one with a sixth push does not", { retry: 3 }, async () => {
    const [sound, sixth] = await Promise.all([
      judgedInRealTime("sound"),
      judgedInRealTime("push-reading-r7-from-start"),
    ]);
    expect(sound.clock).toBe("real");
    expect(sound.notes).toEqual(["limits replaced by the profile: pushDelaysMs"]);
    for (const id of [
      "push.delivered",
      "push.cap",
      "push.late-acknowledgement",
      "push.unacknowledged-retries",
    ])
      expect([id, sound.verdicts.get(id)]).toMatchObject([id, { kind: "passed" }]);
    expect(sound.verdicts.get("push.schedule")).toMatchObject({
      kind: "passed",
      facts: { readings: ["R1"] },
    });
    expect(sixth.verdicts.get("push.cap")).toMatchObject({ kind: "failed" });
  });
});
