import { describe, expect, it } from "vitest";
import { answer } from "../../testing/made.ts";
import { errorOf } from "../../testing/errors.ts";
import { realClock, type JoinedClock } from "../clock.ts";
import { TransportError, type Answer, type Request } from "../exchange.ts";
import { manualTime, target } from "../time/testing/time.ts";
import { createPacer, type PacerOptions } from "./pacer.ts";

const MINUTE_MS = 60_000;
const request: Request = { method: "POST", path: "/open-api/oauth/access-token", headers: [] };
const granting = answer({ json: { accessToken: "a" } });
const refusing = answer({ status: 400 });
const limiting = answer({ status: 503 });
const forbidding = answer({
  isOfLimiter: true,
  status: 403,
  headers: [["content-type", "text/html"]],
});

/** A service that locks its client out for ten seconds after ten refusals within a minute. */
const lockingOut = (nowMs: () => number, lockedMs = 10_000) => {
  let refusedMs: number[] = [];
  let untilMs = 0;
  let locks = 0;
  const isLocked = (): boolean => nowMs() < untilMs;
  return {
    locks: () => locks,
    answerTo: (isRight: boolean): Answer => {
      if (isLocked()) return answer({ status: 403 });
      if (isRight) return granting;
      refusedMs = [...refusedMs.filter((atMs) => atMs > nowMs() - MINUTE_MS), nowMs()];
      if (refusedMs.length >= 10) {
        locks += 1;
        refusedMs = [];
        untilMs = nowMs() + lockedMs;
      }
      return refusing;
    },
  };
};

const open = (options: Partial<PacerOptions> = {}) => {
  const time = manualTime();
  const pacer = createPacer({ time, ...options });
  for (const known of [limiting, forbidding]) pacer.servedAfter(known);
  const real = realClock(Infinity).join();
  const send = async (got: () => Answer, clock: JoinedClock = real, isControl = false): Promise<Answer> => {
    const ended = await pacer.admit(request, clock, isControl);
    const answered = got();
    ended(answered);
    return answered;
  };
  return { time, pacer, real, send };
};

describe("the pace that a user allows", () => {
  it("is that of all requests, also of those sent at the same time", async () => {
    const { time, send } = open({ pace: { perSecond: 50 } });
    await Promise.all(Array.from({ length: 101 }, () => send(() => granting)));
    expect(time.nowMs()).toBe(2_000);
  });

  it("is that of refused requests within any minute, whatever else is sent", async () => {
    const { time, send } = open({ pace: { refusedPerMinute: 20 } });
    const refusedMs: number[] = [];
    const refused = (): Answer => {
      refusedMs.push(time.nowMs());
      return refusing;
    };
    await Promise.all(Array.from({ length: 70 }, () => send(refused)));
    for (const fromMs of refusedMs) {
      const within = refusedMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + MINUTE_MS);
      expect(within.length).toBeLessThanOrEqual(20);
    }
    expect(time.nowMs()).toBeLessThan(4 * MINUTE_MS);
  });
});

describe("a rate limiter", () => {
  it("is slowed down for until it turns nobody away, which is approached again", async () => {
    const { time, pacer, real, send } = open();
    let passedMs = -Infinity;
    const fifty = (): Answer => {
      if (time.nowMs() - passedMs < 20) return limiting;
      passedMs = time.nowMs();
      return granting;
    };
    const turnedAway: number[] = [];
    for (let sent = 0; sent < 2_000; sent += 1) {
      await time.pause(1);
      if ((await send(fifty)) !== limiting) continue;
      turnedAway.push(sent);
      pacer.turnedAway(limiting, real);
    }
    expect(turnedAway.filter((sent) => sent > 1_000).length).toBeLessThan(30);
    expect(pacer.report().perSecond).toBeGreaterThan(25);
    expect(pacer.report()).toMatchObject({ turnedAwayWith: [503] });
  });

  it("that shuts for five seconds after too many requests is waited out, and approached from below", async () => {
    const { time, pacer, real, send } = open();
    let shutUntilMs = 0;
    let sentMs: number[] = [];
    // More than twenty requests within a second.
    const shutting = (): Answer => {
      const nowMs = time.nowMs();
      if (nowMs < shutUntilMs) return forbidding;
      sentMs = [...sentMs.filter((atMs) => atMs > nowMs - 1_000), nowMs];
      if (sentMs.length <= 20) return granting;
      shutUntilMs = nowMs + 5_000;
      return forbidding;
    };
    let turnedAway = 0;
    for (let sent = 0; sent < 1_000; sent += 1) {
      await time.pause(1);
      const got = await send(shutting);
      if (got === granting) continue;
      expect(pacer.isOfLimiter(got)).toBe(true);
      turnedAway += 1;
      pacer.turnedAway(got, real);
    }
    expect(turnedAway).toBeLessThan(200);
    expect(pacer.report().perSecond).toBeGreaterThan(10);
    expect(pacer.report().turnedAwayWith).toEqual([403]);
  });

  it("is not seen in a service that forbids by a page from the beginning", () => {
    const { pacer } = open();
    expect(pacer.isOfLimiter(forbidding)).toBe(false);
  });

  it("is slowed down for if it closes connections", () => {
    const { pacer } = open();
    pacer.servedAfter("closed connections");
    for (let lost = 0; lost < 3; lost += 1) pacer.cutOff();
    expect(pacer.report()).toMatchObject({ perSecond: 7, turnedAwayWith: ["closed connections"] });
  });

  it("ends the run once it has let nothing through for 45 seconds", async () => {
    const { time, pacer, real, send } = open();
    const sending = async (): Promise<void> => {
      for (;;) pacer.turnedAway(await send(() => limiting), real);
    };
    expect(await errorOf(sending(), TransportError)).toMatchObject({ reason: "throttled" });
    expect(time.nowMs()).toBeLessThan(60_000);
  });

  it("is not seen in a service that answers some inputs with 503, unlike the limiter", async () => {
    const { pacer, real, send } = open();
    const own = answer({ status: 503, headers: [["content-type", "application/json"]] });
    for (let sent = 0; sent < 200; sent += 1) {
      const got = await send(() => (sent % 4 === 0 ? own : granting));
      if (got === own) pacer.turnedAway(got, real);
    }
    expect(pacer.report()).toMatchObject({ perSecond: undefined, turnedAwayWith: [] });
  });
});

describe("a lockout", () => {
  /** Sends wrong requests with a right one after each, and looks for a lock where that is refused, as a run does. */
  const play = async (
    rounds: number,
    nowMs: () => number,
    opened: ReturnType<typeof open>,
    clock: JoinedClock,
  ) => {
    const { pacer, send } = opened;
    const service = lockingOut(nowMs);
    for (let round = 0; round < rounds; round += 1) {
      await send(() => service.answerTo(false), clock);
      if ((await send(() => service.answerTo(true), clock)) !== granting)
        await pacer.findLock(clock, {
          look: async () => {
            const answered = await send(() => service.answerTo(true), clock, true);
            return answered === granting ? undefined : "exchange";
          },
        });
    }
    return service.locks();
  };

  it("is waited out in real time, and refused requests are spaced from then on", async () => {
    const opened = open();
    expect(await play(60, opened.time.nowMs, opened, opened.real)).toBe(1);
    expect(opened.pacer.report()).toMatchObject({ lockouts: 1, longestLockMs: 15_000, refusedPerMinute: 4 });
  });

  it("is waited out by moving the target's clock, if it counts by that", async () => {
    const { state, clocks } = target();
    const opened = open({ toldMs: () => state.nowMs });
    expect(await play(60, () => state.nowMs, opened, clocks.join())).toBe(1);
    expect(opened.pacer.report()).toMatchObject({ lockouts: 1, longestLockMs: 10_000 });
    expect(opened.time.nowMs()).toBe(0);
  });

  it("that never ends stops the run within a minute", async () => {
    const { time, pacer, real, send } = open();
    await send(() => granting);
    for (let sent = 0; sent < 5; sent += 1) await send(() => refusing);
    await pacer.findLock(real, { look: () => Promise.resolve("exchange") });
    expect(time.nowMs()).toBeLessThan(MINUTE_MS);
    expect(
      await errorOf(
        send(() => granting),
        TransportError,
      ),
    ).toMatchObject({ reason: "locked" });
    expect(pacer.report().ended).toContain("5 others");
  });

  it("is none if a valid flow is served once nothing else is under way, or never was served", async () => {
    const { pacer, real, send } = open();
    for (let sent = 0; sent < 5; sent += 1) await send(() => refusing);
    await pacer.findLock(real, { look: () => Promise.resolve("exchange") });
    await send(() => granting);
    const looks = ["exchange", undefined] as const;
    let look = 0;
    await pacer.findLock(real, { look: () => Promise.resolve(looks[(look += 1) - 1]) });
    expect(pacer.report().lockouts).toBe(0);
  });

  it("is none if no other client is served any more either, which then breaks a promise", async () => {
    const { pacer, real, send } = open();
    await send(() => granting);
    for (let sent = 0; sent < 5; sent += 1) await send(() => refusing);
    const look = () => Promise.resolve("exchange" as const);
    await pacer.findLock(real, { look, lookOther: look });
    expect(pacer.report()).toMatchObject({ lockouts: 0, ended: undefined });
    expect(await send(() => granting)).toBe(granting);
  });

  it("is not waited for longer than the run may wait", async () => {
    const opened = open({ maxWaitMs: 5 * MINUTE_MS });
    const ended = await errorOf(play(60, opened.time.nowMs, opened, opened.real), TransportError);
    expect(ended).toMatchObject({
      reason: "locked",
      message: expect.stringContaining("--max-wait") as string,
    });
    expect(opened.time.nowMs()).toBeLessThan(7 * MINUTE_MS);
  });
});
