import { describe, expect, it } from "vitest";
import { manualTime } from "../../testing/manual-time.ts";
import { TransportError, type Answer } from "../exchange.ts";
import { createConnectionHealth } from "./connection-health.ts";
import { createRetries } from "./retry.ts";
import { sendToTarget } from "./send.ts";
import { createThrottles, type PatientClock } from "./throttling.ts";
import { errorOf } from "../../testing/errors.ts";

/** A limiter, and a client of it whose waits take no time. */
const open = (seed = 1, mostMs = Infinity) => {
  const time = manualTime();
  const retries = createRetries({ seed, time });
  const health = createConnectionHealth(() => Promise.resolve(true), retries);
  const clock: PatientClock = {
    kind: "real",
    canWait: (durationMs) => durationMs <= mostMs,
    sleep: (durationMs) => time.pause(durationMs),
    sleepOnEither: (durationMs) => time.pause(durationMs),
  };
  const address = { retries, health, throttles: createThrottles(health, retries) };
  const obey = (request: typeof get, send: () => Promise<Answer>): Promise<Answer> =>
    sendToTarget(address, request, clock, send);
  return { time, health, obey };
};

const answering = (status: number, retryAfter?: number): Answer => ({
  exchange: 1,
  status,
  headers: retryAfter === undefined ? [] : [["retry-after", String(retryAfter)]],
  text: "",
  json: undefined,
});

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

describe("a limiter that does not say when to come back", () => {
  it("is asked less often each time, never at the same intervals by two clients, and obeyed", async () => {
    const waits = await Promise.all(
      [1, 2].map(async (seed) => {
        const { time, health, obey } = open(seed);
        const { send, sent } = inTurn(429, 429, 429, 429, 429);
        expect((await obey(post, send)).status).toBe(200);
        expect(sent.count).toBe(6);
        expect(health.report()).toMatchObject({ throttled: 5 });
        return time.pauses;
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

  it("is given up after some tries, and the request has no answer then", async () => {
    const { obey } = open();
    const { send, sent } = inTurn(...Array.from({ length: 100 }, () => 429));
    const { reason, message } = await problemOf(obey(post, send));
    expect(reason).toBe("throttled");
    expect(message).toMatch(/8 times in a row, with status 429 and no Retry-After, after waiting for /);
    expect(sent.count).toBe(8);
  });

  it("has those who wait come back by and by, not all at once", async () => {
    const { time, obey } = open();
    // All are turned away once before any is let through.
    const together = Array.from({ length: 24 }, () => obey(get, inTurn(429).send));
    expect((await Promise.all(together)).map(({ status }) => status)).toEqual(Array(24).fill(200));
    const [first = 0, last = 0] = [time.pauses[0], time.pauses.at(-1)];
    expect(time.pauses).toHaveLength(24);
    expect(last).toBeGreaterThan(first * 1.5);
  });
});

describe("a gateway that does not say when to come back", () => {
  it.each([
    [502, get, 3],
    [503, get, 3],
    [504, get, 3],
    [503, post, 3],
    // What it could not deliver may still have been done.
    [502, post, 1],
    [504, post, 1],
    [500, get, 1],
  ])("with status %i to %j is asked %i times, and its answer stands then", async (status, request, times) => {
    const { obey } = open();
    const { send, sent } = inTurn(...Array.from({ length: 9 }, () => status));
    expect((await obey(request, send)).status).toBe(status);
    expect(sent.count).toBe(times);
  });

  it("has done no harm if the service is back at the next try", async () => {
    const { time, obey, health } = open();
    expect((await obey(get, inTurn(502, 504).send)).status).toBe(200);
    expect(time.pauses).toHaveLength(2);
    expect(health.report().throttled).toBe(2);
  });
});

describe("a limiter that shuts a client out", () => {
  /** Turns all away until this moment, with a Retry-After of ten seconds. */
  const shutUntil = (untilMs: number, nowMs: () => number) => (): Promise<Answer> =>
    Promise.resolve(nowMs() < untilMs ? answering(429, 10) : answering(200));

  it("for forty-five seconds is waited for, and the request answered", async () => {
    const { time, obey } = open();
    expect((await obey(post, shutUntil(45_000, time.nowMs))).status).toBe(200);
    expect(time.pauses).toEqual([10_000, 10_000, 10_000, 10_000, 10_000]);
  });

  it("for longer is not obeyed, and each later request of that kind tries only once more", async () => {
    const { time, obey } = open();
    const send = shutUntil(200_000, time.nowMs);
    expect((await problemOf(obey(post, send))).message).toMatch(/Retry-After 10, .*50 s/);
    const before = time.pauses.length;
    expect((await problemOf(obey(post, send))).reason).toBe("throttled");
    expect(time.pauses).toHaveLength(before + 1);
    // Requests of another kind have not been turned away for long.
    const other = { ...post, path: "/open-api/oauth/refresh-token" };
    expect((await obey(other, inTurn(429, 429).send)).status).toBe(200);
    // Once one is let through, that kind is patient again.
    await time.pause(200_000);
    expect((await obey(post, send)).status).toBe(200);
    expect((await obey(post, inTurn(429, 429, 429).send)).status).toBe(200);
  });

  it("is not waited for beyond what the run may wait", async () => {
    const { time, obey } = open(1, 25_000);
    const { reason } = await problemOf(obey(post, shutUntil(45_000, time.nowMs)));
    expect(reason).toBe("throttled");
    expect(time.pauses).toEqual([10_000, 10_000]);
  });
});

it("a request that is alternately turned away and cut is sent as often as one that is only cut", async () => {
  const { obey } = open();
  const answers = [answering(429), undefined, answering(429), undefined, undefined, answering(200)];
  let sent = 0;
  const { reason } = await problemOf(
    obey(get, async () => {
      sent += 1;
      const answer = answers.shift();
      if (answer === undefined) throw new TransportError(sent, "closed", "cut");
      return answer;
    }),
  );
  expect({ reason, sent }).toEqual({ reason: "closed", sent: 5 });
});
