import { expect, it } from "vitest";
import type { PushLine } from "../contract/push.ts";
import { documentLimits } from "../contract/limits.ts";
import { madePush } from "../testing/made.ts";
import type { Clock } from "../world/clock.ts";
import { checkCallback } from "./callback-check.ts";
import type { Session } from "./session.ts";

const TIMEOUT_MS = 10_000;
const RETRY_MS = 30_000;
/** So many looks in real time does a first handshake take. */
const HANDSHAKE_LOOKS = 8;

/** A session whose sender takes long for its first handshake, and gives it up after ten seconds of the target's clock. */
const slowSender = (isTold: boolean) => {
  let nowMs = 0;
  let looks = 0;
  /** Whether the time for pushes that come at once is over. */
  let isLate = false;
  let retryAtMs: number | undefined;
  const lines: PushLine[] = [];
  const add = (line: Omit<Extract<PushLine, { kind: "push" | "fault" }>, "n">): void =>
    void lines.push({ n: lines.length + 1, ...line } as PushLine);
  const push = () =>
    add({ kind: "push", ...madePush(nowMs, { action: "answer", notificationId: "one" }) } as never);
  const isOpen = () => looks < HANDSHAKE_LOOKS && retryAtMs === undefined;
  const clock = {
    kind: "virtual",
    sleep: (durationMs: number) => {
      nowMs += durationMs;
      if (isOpen() && nowMs >= TIMEOUT_MS) {
        retryAtMs = nowMs + RETRY_MS;
        add({ kind: "fault", atMs: nowMs, message: "TLS handshake failed: ECONNRESET" } as never);
      } else if (retryAtMs !== undefined && nowMs >= retryAtMs && lines.length === 1) push();
      return Promise.resolve();
    },
  } as unknown as Clock;
  const session = {
    limits: documentLimits,
    resolved: { profile: { baseUrl: "http://127.0.0.1:1" } },
    acknowledgedStatus: 200,
    registerCallback: () => Promise.resolve(),
    events: { account: () => "account", trigger: () => Promise.resolve("one") },
    // Whether retries follow the clock is another question.
    pushClocks: { kind: "real" },
    clocks: {
      askUnderWay: () => {
        isLate = true;
        return Promise.resolve(isTold);
      },
      underWay: () => ({ inFlight: isOpen() ? 1 : 0, askedMs: 0 }),
    },
    receiver: {
      certificate: () => Promise.resolve(),
      listener: () => Promise.resolve(),
      plan: () => Promise.resolve(),
      state: () => Promise.resolve({ callbackUrl: "https://127.0.0.1:2/service/webhook", last: 0 }),
      pushes: async ({ last }: { last: number }) => {
        // A turn of the event loop stands for the real time of a look.
        await new Promise((resolve) => void setImmediate(resolve));
        if (isLate) looks += 1;
        if (looks === HANDSHAKE_LOOKS && retryAtMs === undefined) push();
        return lines.filter(({ n }) => n > last);
      },
    },
  } as unknown as Session;
  return { session, clock, nowMs: () => nowMs };
};

it("does not move the clock over a first push that the target says is under way", async () => {
  const { session, clock, nowMs } = slowSender(true);
  const { checks } = await checkCallback(session, clock);
  expect(checks).toMatchObject([
    { ok: true, message: expect.stringMatching(/\([\d.]+ m?s after its event\)$/) },
  ]);
  expect(nowMs()).toBe(0);
});

it("waits for the retry of a first push whose handshake the clock was moved over", async () => {
  const { session, clock, nowMs } = slowSender(false);
  const { checks } = await checkCallback(session, clock);
  expect(checks).toMatchObject([{ ok: true }]);
  expect(nowMs()).toBeGreaterThan(TIMEOUT_MS + RETRY_MS);
});

it.each([
  [
    { faketime: { file: "/run/clock" } },
    true,
    /its sender does not read "\/run\/clock".*or it does not push/,
  ],
  [{ advance: { command: ["advance"] } }, false, /never connected to it$/],
] as const)(
  "leaves a service that never pushes to the rules, unless its sender may not follow the clock: %j",
  async (hook, isOpen, said) => {
    const { session, clock } = slowSender(false);
    const silent = {
      ...session,
      resolved: { profile: { ...session.resolved.profile, hooks: { clock: hook } } },
      receiver: { ...session.receiver, pushes: () => Promise.resolve([]) },
    } as unknown as Session;
    const { checks, prepared } = await checkCallback(silent, clock);
    expect(checks).toMatchObject([{ ok: false, message: expect.stringMatching(said) as string }]);
    expect(prepared.unreachableReceiver !== undefined).toBe(isOpen);
  },
);
