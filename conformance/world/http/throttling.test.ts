import { describe, expect, it } from "vitest";
import { answer } from "../../testing/made.ts";
import { manualTime, target } from "../time/testing/time.ts";
import { TransportError, type Answer } from "../exchange.ts";
import { newScope } from "../evidence/journal.ts";
import { createRetries } from "./retry.ts";
import { addressOf, sendToTarget } from "./send.ts";
import type { PatientClock } from "./lockouts.ts";
import { errorOf } from "../../testing/errors.ts";

/** A limiter, and a client of it whose waits take no time. */
const open = (seed = 1, mostMs = Infinity, virtual?: { nowMs: number }) => {
  const time = manualTime();
  const address = addressOf(() => Promise.resolve(true), createRetries({ seed, time }), {
    toldMs: () => virtual?.nowMs,
  });
  const slept: number[] = [];
  const sleep = (durationMs: number): Promise<void> => {
    slept.push(durationMs);
    if (virtual === undefined) return time.pause(durationMs);
    virtual.nowMs += durationMs;
    return Promise.resolve();
  };
  const clock: PatientClock = {
    kind: virtual === undefined ? "real" : "virtual",
    isTold: true,
    runs: () => virtual === undefined,
    now: () => Promise.resolve({ earliestMs: virtual?.nowMs ?? 0, latestMs: virtual?.nowMs ?? 0 }),
    canWaitAsAsked: (durationMs) => durationMs <= mostMs,
    sleepAsAsked: sleep,
  };
  const scope = newScope("code.single-use");
  const obey = (request: typeof get, send: () => Promise<Answer>): Promise<Answer> =>
    sendToTarget(address, { ...request, headers: [] }, { scope, clock }, send);
  return { time, slept, health: address.health, pacer: address.pacer, losses: scope.losses, obey };
};

const answering = (status: number, retryAfter?: number): Answer =>
  answer({ status, headers: retryAfter === undefined ? [] : [["retry-after", String(retryAfter)]] });

/** Returns these statuses in turn, then 200. */
const inTurn = (...statuses: readonly number[]) => {
  const left = [...statuses];
  const sent = { count: 0 };
  const send = (): Promise<Answer> => {
    sent.count += 1;
    return Promise.resolve(answering(left.shift() ?? 200));
  };
  return { send, sent };
};

const get = { method: "GET", path: "/open-api/v1/notifications?page=0" };
const post = { method: "POST", path: "/open-api/oauth/access-token" };

const problemOf = (sent: Promise<unknown>) => errorOf(sent, TransportError);

describe("a limiter without Retry-After", () => {
  it("is retried at growing intervals that depend on the seed", async () => {
    const waits = await Promise.all(
      [1, 2].map(async (seed) => {
        const { slept, health, obey } = open(seed);
        const { send, sent } = inTurn(429, 429, 429, 429, 429);
        expect((await obey(post, send)).status).toBe(200);
        expect(sent.count).toBe(6);
        expect(health.report()).toMatchObject({ throttled: 5 });
        return slept;
      }),
    );
    for (const pauses of waits)
      for (const [index, pauseMs] of pauses.entries()) {
        const mostMs = 50 * 2 ** index;
        expect(pauseMs).toBeGreaterThanOrEqual(mostMs / 2);
        expect(pauseMs).toBeLessThanOrEqual(mostMs);
      }
    expect(waits[0]).not.toEqual(waits[1]);
  });

  it("is given up after eight attempts, and the request fails as throttled", async () => {
    const { obey } = open();
    const { send, sent } = inTurn(...Array.from({ length: 100 }, () => 429));
    const { reason, message } = await problemOf(obey(post, send));
    expect(reason).toBe("throttled");
    expect(message).toMatch(/8 times in a row, with status 429 and no Retry-After, after waiting for /);
    expect(sent.count).toBe(8);
  });
});

describe("a gateway without Retry-After", () => {
  it.each([
    [502, get, 3],
    [503, get, 8],
    [504, get, 3],
    // The service may have handled a request that the gateway reports as failed.
    [502, post, 1],
    [503, post, 1],
    [504, post, 1],
    [500, get, 1],
  ])("with status %i to %j is asked %i times, and the answer is missing", async (status, request, times) => {
    const { obey, losses } = open();
    const { send, sent } = inTurn(...Array.from({ length: 9 }, () => status));
    expect((await obey(request, send)).status).toBe(status);
    expect(sent.count).toBe(times);
    expect(losses.open().size).toBe(status === 500 ? 0 : 1);
  });

  it("is asked again until the service is back", async () => {
    const { time, obey, health, losses } = open();
    expect((await obey(get, inTurn(502, 504).send)).status).toBe(200);
    expect(time.pauses).toHaveLength(2);
    expect(health.report().throttled).toBe(2);
    expect(losses.open().size).toBe(0);
  });
});

describe("a limiter with Retry-After", () => {
  /** Throttles all requests until this time, with a Retry-After of ten seconds. */
  const shutUntil = (untilMs: number, nowMs: () => number) => (): Promise<Answer> =>
    Promise.resolve(nowMs() < untilMs ? answering(429, 10) : answering(200));

  it("is given up beyond the budget, and later requests to that endpoint are retried once until one is answered", async () => {
    const { time, slept, obey } = open();
    const send = shutUntil(200_000, time.nowMs);
    expect((await problemOf(obey(post, send))).message).toMatch(/Retry-After 10, .*50 s/);
    const before = slept.length;
    expect((await problemOf(obey(post, send))).reason).toBe("throttled");
    expect(slept).toHaveLength(before + 1);
    // Requests to another endpoint have not been throttled for long.
    const other = { ...post, path: "/open-api/oauth/refresh-token" };
    expect((await obey(other, inTurn(429, 429).send)).status).toBe(200);
    // Once one is answered, later requests to that endpoint wait again.
    await time.pause(200_000);
    expect((await obey(post, send)).status).toBe(200);
    expect((await obey(post, inTurn(429, 429, 429).send)).status).toBe(200);
  });

  it("is not waited for longer than the run may wait", async () => {
    const { time, obey } = open(1, 25_000);
    const { reason } = await problemOf(obey(post, shutUntil(45_000, time.nowMs)));
    expect(reason).toBe("throttled");
    expect(time.pauses).toEqual([10_000, 10_000]);
  });
});

describe("a limiter before a service whose clock is moved", () => {
  /** Lets one request through per ten seconds of this time. */
  const everyTenSeconds = (nowMs: () => number) => {
    let freeFromMs = 0;
    return (): Promise<Answer> => {
      if (nowMs() < freeFromMs) return Promise.resolve(answering(429, 5));
      freeFromMs = nowMs() + 10_000;
      return Promise.resolve(answering(200));
    };
  };

  it("is waited for in real time only until requests were seen to get through by moving the clock alone", async () => {
    const virtual = { nowMs: 0 };
    const { time, pacer, obey } = open(1, Infinity, virtual);
    pacer.learnClock("target", true);
    const before = time.pauses.length;
    expect((await obey(get, inTurn(429, 429).send)).status).toBe(200);
    // The first wait ends on either clock.
    expect(time.pauses).toHaveLength(before + 1);
  });

  it("is given up after a dozen tries, not sooner because a busy machine takes minutes for a few", async () => {
    const { time, obey } = open(1, Infinity, { nowMs: 0 });
    const slowly = (send: () => Promise<Answer>) => async (): Promise<Answer> => {
      await time.pause(10_000);
      return send();
    };
    const throttledFor = (tries: number) => inTurn(...Array.from({ length: tries }, () => 429)).send;
    const asking = (send: () => Promise<Answer>) => async (): Promise<Answer> => {
      const got = await send();
      return got.status === 429 ? answering(429, 1) : got;
    };
    expect((await obey(post, slowly(asking(throttledFor(11))))).status).toBe(200);
    expect((await problemOf(obey(post, slowly(asking(throttledFor(12)))))).reason).toBe("throttled");
  });

  it("is waited for in real time again once moving the clock is no longer enough", async () => {
    const { time, pacer, obey } = open(1, Infinity, { nowMs: 0 });
    pacer.learnClock("target", true);
    const send = everyTenSeconds(time.nowMs);
    for (let request = 0; request < 2; request += 1) expect((await obey(get, send)).status).toBe(200);
    expect(time.nowMs()).toBeGreaterThanOrEqual(10_000);
  });
});

describe("a Retry-After with a date by the clock that is moved", () => {
  const startMs = Date.UTC(2031, 4, 1);
  const dated = (status: number, retryMs: number): Answer =>
    answer({
      status,
      headers: [
        ["date", "Wed, 21 Oct 2026 07:28:00 GMT"],
        ["retry-after", new Date(retryMs).toUTCString()],
      ],
    });

  it("is not waited for if it is far off by that clock too", async () => {
    const { obey } = open(1, Infinity, { nowMs: Date.UTC(2040, 4, 1) });
    const problem = await problemOf(obey(post, () => Promise.resolve(dated(429, startMs))));
    expect(problem.reason).toBe("throttled");
  });
});

it("a Retry-After is waited out on a clock that nothing showed to follow what moves it", async () => {
  const { state, clocks } = target();
  clocks.distrust?.("it was not seen to move", 60_000);
  const clock = clocks.join();
  expect(clock.canWait(120_000)).toBe(false);
  const address = addressOf(() => Promise.resolve(true), createRetries({ time: manualTime() }));
  const limited = () => Promise.resolve(state.nowMs < 1_120_000 ? answering(429, 120) : answering(200));
  const sent = sendToTarget(
    address,
    { ...post, headers: [] },
    { scope: newScope("code.lifetime"), clock },
    limited,
  );
  expect((await sent).status).toBe(200);
  expect(state.advances).toEqual([120_000]);
});

it("a request that is alternately throttled and cut is given up after three cuts", async () => {
  const { obey } = open();
  const answers = [answering(429), undefined, answering(429), undefined, undefined, answering(200)];
  let sent = 0;
  const { reason } = await problemOf(
    obey(get, async () => {
      sent += 1;
      const got = answers.shift();
      if (got === undefined) throw new TransportError(sent, "closed", "cut");
      return got;
    }),
  );
  expect({ reason, sent }).toEqual({ reason: "closed", sent: 5 });
});
