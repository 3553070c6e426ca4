import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import type { PushLine } from "../contract/push.ts";
import { madePush } from "../testing/made.ts";
import type { Clock } from "../world/clock.ts";
import type { Receiver } from "../world/receiver.ts";
import { checkRetry } from "./retry-check.ts";
import type { Session } from "./session.ts";

let nowMs = 0;
beforeEach(() => void vi.spyOn(performance, "now").mockImplementation(() => nowMs));
afterEach(() => void vi.restoreAllMocks());

/** A sender whose retry comes once the moved clock, or real time, has gone so far; by none, it never comes. */
const checked = async (comes: { readonly movedMs?: number; readonly realMs?: number }, pushes?: "real") => {
  let movedMs = 0;
  const startedMs = nowMs;
  const clock = {
    kind: "virtual",
    sleep: (durationMs: number) => {
      movedMs += durationMs;
      return Promise.resolve();
    },
  } as unknown as Clock;
  const receiver = {
    pushes: (_after: unknown, waitMs: number) => {
      nowMs += Math.min(waitMs, Math.max(0, startedMs + (comes.realMs ?? Infinity) - nowMs));
      const isHere =
        movedMs >= (comes.movedMs ?? Infinity) || nowMs - startedMs >= (comes.realMs ?? Infinity);
      const push = { n: 2, epoch: "one", kind: "push", ...madePush(0, { action: "answer" }) } as PushLine;
      return Promise.resolve(isHere ? [push] : []);
    },
  } as unknown as Receiver;
  const session = {
    limits: documentLimits,
    clocks: {},
    pushClocks: { kind: pushes ?? "virtual" },
    resolved: { profile: { hooks: { clock: { faketime: { file: "/run/clock" } } } } },
  } as unknown as Session;
  const after = { epoch: "one", last: 1 };
  return { ...(await checkRetry(session, receiver, clock, { after, lagMs: 50, isOf: () => true })), movedMs };
};

describe("a retry of the sender, as the clock is moved", () => {
  it.each([30_000, 60_000])("follows it if one comes by then: after %d ms", async (movedMs) => {
    const { checks, unmovedRetries } = await checked({ movedMs });
    expect(checks).toMatchObject([{ check: "retries", ok: true }]);
    expect(unmovedRetries).toBeUndefined();
  });

  it("does not follow it if one comes only in real time, and the remedy names what helps", async () => {
    const { checks, unmovedRetries } = await checked({ realMs: 30_000 });
    expect(checks).toMatchObject([{ check: "retries", ok: false }]);
    expect(unmovedRetries?.reason).toMatch(
      /retries do not follow the clock at once when it is moved: one came after .* of real time/,
    );
    expect(unmovedRetries?.settle).toMatch(/libfaketime.*hooks\.clock\.pushes: "real"/);
  });

  it("does not follow it at once if one comes some real time after it was due", async () => {
    expect(await checked({ realMs: 5_000 })).toMatchObject({
      checks: [{ ok: false, message: expect.stringContaining("one came after 5 s of real time") }],
    });
  });

  it("is missing, which is left to the rules, if it comes by neither", async () => {
    const { checks, unmovedRetries } = await checked({});
    expect(checks).toMatchObject([{ check: "retries", ok: "skipped" }]);
    expect(unmovedRetries).toBeUndefined();
  });

  it("is not looked for if pushes are judged in real time", async () => {
    expect(await checked({ movedMs: 0 }, "real")).toMatchObject({ checks: [], movedMs: 0 });
  });
});
