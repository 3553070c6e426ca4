import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { documentLimits } from "../../../conformance/contract/limits.ts";
import type { PushPorts } from "../../../conformance/contract/push-ports.ts";
import { instantsOf, readingsOf } from "../../../conformance/judging/pushes/readings.ts";
import { madePush } from "../../../conformance/testing/made.ts";
import { temporaryFolder } from "../../../conformance/testing/temporary-folder.ts";
import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import type { LoadResult } from "../collect/collect.ts";
import type { LoadContext } from "../context.ts";
import { profileFor } from "../testing/loads.ts";
import { watchPushes } from "./watch.ts";

class HookFailed extends Error {}

/** A line of the journal: a push of this notification, acknowledged at once. */
const acknowledged = (notificationId: string, n: number) => ({
  ...madePush(0, { action: "answer", status: 200, outcome: "sent", notificationId }),
  kind: "push",
  epoch: "e",
  n,
});

const plan = {
  scenario: "push",
  shape: "constant",
  rate: 1,
  durationMs: 1_000,
  warmUpMs: 0,
  seed: 1,
} as const;

interface World {
  readonly lines: () => readonly unknown[];
  readonly targetClock: Pick<PushPorts["targetClock"], "now" | "sleep"> & { readonly kind?: "real" };
  readonly wallMs: () => number;
  /** How many of the newest lines the receiver keeps; all by default. */
  readonly kept?: number;
  /** What fails at the receiver when it is told the plan. */
  readonly planFailure?: Error;
  /** What happens during the load, after the event; nothing by default. */
  readonly load?: () => void;
  /** The id that the hook returned for the event. */
  readonly told?: string;
  /** What else the profile says of the hook. */
  readonly trigger?: { readonly result?: string };
  /** How much of it objectives ignore; nothing by default. */
  readonly warmUpMs?: number;
  /** For how long this process could not run, before the event. */
  readonly stalledMs?: number;
  readonly signal?: AbortSignal;
}

/** The end of a push load with one event. */
const finish = async (
  directory: string,
  {
    lines,
    targetClock,
    wallMs,
    kept = Infinity,
    load = () => {},
    warmUpMs = 0,
    planFailure,
    told = "n",
    trigger = {},
    stalledMs = 0,
    ...world
  }: World,
) => {
  const none = async () => {};
  const push = {
    receiver: {
      state: async () => ({
        callbackUrl: "https://receiver.example/",
        ca: undefined,
        last: 0,
        nowMs: wallMs(),
      }),
      pushes: async ({ last }: { last: number }) => lines().slice(Math.max(last, lines().length - kept)),
      plan: async () => {
        if (planFailure !== undefined) throw planFailure;
        return { epoch: "e", last: 0 };
      },
      clear: none,
    },
    register: none,
    targetClock: { kind: "virtual", isMovedOnly: () => true, inFlight: () => 0, ...targetClock },
    acknowledgedStatus: 200,
    maxWaitMs: 0,
    failureOf: (thrown: unknown) => (thrown instanceof HookFailed ? thrown.message : undefined),
    watchStalls: () => undefined,
    stalledMs: () => 0,
    stallsBy: () => (stalledMs === 0 ? [] : [{ earliestMs: 0, latestMs: 0, forMs: stalledMs }]),
  } as unknown as PushPorts;
  const context = {
    push,
    target: {
      profile: { ...profileFor("http://127.0.0.1:1"), hooks: { events: { trigger } } },
      limits: documentLimits,
    },
    clock: { wallTime: () => new Date(wallMs()), sleep: none },
    signal: world.signal ?? new AbortController().signal,
  } as unknown as LoadContext;
  const watch = await watchPushes(context, directory);
  watch.onEvent(wallMs(), "account", told);
  load();
  return watch.finish({ startedAtMs: 0 } as LoadResult, { ...plan, warmUpMs });
};

/** The same if the clock hook fails with this error, if there is one, after one reading unless said otherwise. */
const finishAfter = async (
  error: Error | undefined,
  directory: string,
  { readings = 1, lines = [acknowledged("n", 1)] } = {},
) => {
  let looks = 0;
  const now = async () => {
    looks += 1;
    if (error !== undefined && looks > readings) throw error;
    return { earliestMs: 0, latestMs: 0 };
  };
  return finish(directory, {
    lines: () => lines,
    targetClock: { now, sleep: async () => {} },
    wallMs: () => 0,
  });
};

/** A service that pushes the notification at these moments of its clock, which is moved, and gets 503 each time. */
const pushingAt = (instantsMs: readonly number[], loadMs = 0): World => {
  let [clockMs, wallMs] = [0, 0];
  const lines: unknown[] = [];
  const push = (): void => {
    wallMs += 50;
    for (
      let due = instantsMs[lines.length];
      due !== undefined && due <= clockMs;
      due = instantsMs[lines.length]
    )
      lines.push({ ...acknowledged("n", lines.length + 1), ...failed, ...at(wallMs) });
    wallMs += 50;
  };
  push();
  const sleep = async (durationMs: number) => {
    clockMs += durationMs;
    push();
  };
  const now = async () => ({ earliestMs: clockMs, latestMs: clockMs });
  const load = (): void => void (wallMs += loadMs);
  return { lines: () => lines, targetClock: { now, sleep }, wallMs: () => wallMs, load };
};

const failed = { status: 503 };
const at = (ms: number) => ({ firstByteMs: ms, completeMs: ms, answeredMs: ms });

it("a hook that fails after a push load leaves its rules open, and the pushes are kept", async () => {
  using folder = temporaryFolder();
  const { judgement, summary, notes } = await finishAfter(
    new HookFailed("hooks.clock.now: away"),
    folder.path,
  );
  expect(judgement.rules).toEqual([]);
  expect(summary).toMatchObject({ events: 1, pushes: 1 });
  expect(notes.join()).toContain("hooks.clock.now: away");
  expect(readFileSync(path.join(folder.path, "pushes.jsonl"), "utf8")).toContain('"notificationId":"n"');
});

it("a push of a service whose clock is moved may also be acknowledged too late by a machine that stalled", async () => {
  using folder = temporaryFolder();
  const rule = async (stalledMs: number) => {
    const world = pushingAt([0, 30_000]);
    const lines = () => world.lines().map((line) => ({ ...(line as object), status: 200 }));
    const { judgement } = await finish(folder.path, { ...world, lines, stalledMs });
    return judgement.rules.find(({ id }) => id === "push.acknowledged-stops");
  };
  expect(await rule(0)).toMatchObject({ checks: 1, breaches: 1 });
  expect(await rule(5_000)).toMatchObject({ checks: 0, breaches: 0, open: 1 });
});

it("events whose ids no push carries are named by something else, unless the profile says where the id is", async () => {
  using folder = temporaryFolder();
  const judge = async (
    told: string,
    pushed: string,
    trigger: { readonly result?: string } = {},
    more: object = { accountId: "Account" },
  ) => {
    const world = pushingAt([0]);
    const lines = () =>
      world.lines().map((line) => ({ ...(line as object), ...at(150), notificationId: pushed, ...more }));
    const { judgement, summary, notes } = await finish(folder.path, { ...world, lines, told, trigger });
    const broken = judgement.rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
    return { isLost: broken.includes("push.delivered"), events: summary.events, notes: notes.join() };
  };
  expect(await judge("job", "n")).toEqual({
    isLost: false,
    events: 0,
    notes: expect.stringMatching(/^1 events .* \(no push carries an id that it returned\)/) as string,
  });
  expect(await judge("job", "n", { result: "/id" })).toMatchObject({ isLost: true, events: 1 });
  // Pushes of other accounts, and of events before the load, say nothing of what the hook names.
  for (const more of [{ accountId: "other" }, { accountId: "account", ...at(0) }])
    expect(await judge("job", "n", {}, more)).toMatchObject({ isLost: true, events: 1 });
  for (const trigger of [{}, { result: "/id" }])
    expect(await judge("N", "n", trigger)).toMatchObject({
      isLost: false,
      events: 1,
      notes: expect.not.stringContaining("does not name") as string,
    });
});

it("a hook that fails before is a matter of the profile", async () => {
  using folder = temporaryFolder();
  const failing = finishAfter(new HookFailed("hooks.clock.now: away"), folder.path, { readings: 0 });
  await expect(failing).rejects.toThrow(ConfigurationError);
  await expect(finishAfter(new Error("a bug"), folder.path, { readings: 0 })).rejects.not.toThrow(
    ConfigurationError,
  );
});

it("a receiver that another run uses ends a load before it begins", async () => {
  using folder = temporaryFolder();
  const world = { ...pushingAt([0]), planFailure: new HookFailed("the receiver: another run uses it") };
  await expect(finish(folder.path, world)).rejects.toThrow(
    new ConfigurationError("a push load cannot begin: the receiver: another run uses it"),
  );
});

it("a receiver that another run began to use leaves the rules open", async () => {
  using folder = temporaryFolder();
  const lines = () => {
    throw new HookFailed("the receiver: another run began to use it");
  };
  const { judgement, notes } = await finish(folder.path, { ...pushingAt([0]), lines });
  expect(judgement.rules).toEqual([]);
  expect(notes.join()).toContain(
    "no push was judged, because the receiver's journal could not be read to its end",
  );
  expect(notes.join()).toContain("another run began to use it");
});

it("any other error then is one of the harness", async () => {
  using folder = temporaryFolder();
  await expect(finishAfter(new Error("a bug"), folder.path)).rejects.toThrow("a bug");
});

it.each([
  ["that is judged", undefined],
  ["whose hook fails", new HookFailed("hooks.clock.now: away")],
])(
  "the summary of a load %s counts no other notifications, and an acknowledged one once",
  async (_, error) => {
    using folder = temporaryFolder();
    const lines = [acknowledged("preflight", 1), acknowledged("n", 2), acknowledged("n", 3)];
    const { summary } = await finishAfter(error, folder.path, { lines });
    expect(summary).toMatchObject({ events: 1, pushes: 2, acknowledged: 1 });
  },
);

it("watches until a push beyond the cap is overdue, so that readings with one are told apart", async () => {
  using folder = temporaryFolder();
  const [R1] = readingsOf(documentLimits);
  const { judgement, notes } = await finish(folder.path, pushingAt(R1 === undefined ? [] : instantsOf(R1)));
  expect(notes).toEqual(["readings of the retry schedule that no failing notification contradicts: R1"]);
  expect(judgement.rules).toContainEqual({ id: "push.cap", checks: 1, breaches: 0 });
});

it("pushes that come while the run waits are read before the receiver forgets them", async () => {
  using folder = temporaryFolder();
  const [R1] = readingsOf(documentLimits);
  const world = pushingAt(R1 === undefined ? [] : instantsOf(R1));
  const { summary, notes } = await finish(folder.path, { ...world, kept: 1 });
  expect(summary).toMatchObject({ pushes: 5 });
  expect(notes.join()).not.toContain("lost");
  expect(readFileSync(path.join(folder.path, "pushes.jsonl"), "utf8").trim().split("\n")).toHaveLength(5);
});

it("a journal with a hole is not judged", async () => {
  using folder = temporaryFolder();
  const lines = [acknowledged("n", 1), acknowledged("m", 2), acknowledged("m", 3)];
  const targetClock = { now: async () => ({ earliestMs: 0, latestMs: 0 }), sleep: async () => {} };
  const world = { lines: () => lines, targetClock, wallMs: () => 0, kept: 1 };
  const { judgement, notes } = await finish(folder.path, world);
  expect(judgement.rules).toEqual([]);
  expect(notes).toEqual([
    "no push was judged, because lines 1 to 2 of the receiver's journal were lost before they could be read",
  ]);
});

it("a clock that stands still stood still during the load, too", async () => {
  using folder = temporaryFolder();
  const [R1] = readingsOf(documentLimits);
  const { judgement } = await finish(folder.path, pushingAt(R1 === undefined ? [] : instantsOf(R1), 45_000));
  expect(judgement.rules).toContainEqual({ id: "push.schedule", checks: 4, breaches: 0 });
});

it.each([
  ["whose target's clock nobody moves, whenever it comes", "real", 20],
  ["until the target's clock is moved", undefined, undefined],
] as const)("the first push of a load is measured %s", async (_, kind, delayS) => {
  using folder = temporaryFolder();
  const lines = [{ ...acknowledged("n", 1), ...at(20_000) }];
  const targetClock = { now: async () => ({ earliestMs: 0, latestMs: 0 }), sleep: async () => {} };
  const world = { lines: () => lines, targetClock: { ...targetClock, ...(kind && { kind }) } };
  const { summary } = await finish(folder.path, { ...world, wallMs: () => 0 });
  const delay = summary.deliveryDelay;
  expect(delay && Math.round(delay.p50Ms / 1_000)).toBe(delayS);
});

it("the delay of a load's pushes is that after its warm-up", async () => {
  using folder = temporaryFolder();
  const { summary } = await finish(folder.path, { ...pushingAt([0]), warmUpMs: 1_000 });
  expect(summary.deliveryDelay).toBeUndefined();
  expect((await finish(folder.path, pushingAt([0]))).summary.deliveryDelay).toBeDefined();
});

/** The world is interrupted with this call of its clock, and its clock says nothing from then on. */
const interruptedAt = (world: World, call: number): World => {
  const interruption = new AbortController();
  let calls = 0;
  const untilThen =
    <Given extends unknown[], T>(ask: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      calls += 1;
      if (calls >= call) interruption.abort();
      if (interruption.signal.aborted) throw new HookFailed("interrupted");
      return ask(...given);
    };
  const { now, sleep } = world.targetClock;
  const targetClock = { ...world.targetClock, now: untilThen(now), sleep: untilThen(sleep) };
  return { ...world, targetClock, signal: interruption.signal };
};

it.each([
  ["before its clock was read after the load", 2, 1],
  ["while its clock is moved", 20, 2],
])("an interrupted push load is judged as far as it came: %s", async (_, call, pushes) => {
  using folder = temporaryFolder();
  const world = interruptedAt(pushingAt([0, 30_000, 90_000]), call);
  const { judgement, summary, notes } = await finish(folder.path, world);
  expect(summary).toMatchObject({ events: 1, pushes });
  expect(notes.join()).not.toContain("no push was judged");
  const broken = judgement.rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
  // Its body is none, and nothing else can be told yet.
  expect(broken).toEqual(["push.payload"]);
  expect(readFileSync(path.join(folder.path, "pushes.jsonl"), "utf8").trim().split("\n")).toHaveLength(
    pushes,
  );
});

it("an interrupted load does not miss pushes that are due by a clock that may have stood still", async () => {
  using folder = temporaryFolder();
  const world = interruptedAt(pushingAt([30_000], 100_000), 2);
  const { judgement } = await finish(folder.path, world);
  expect(judgement.rules).toContainEqual({
    id: "push.delivered",
    checks: 0,
    breaches: 0,
    open: 1,
    note: "1 event was not watched for long enough",
  });
});
