import { describe, expect, it } from "vitest";
import { createPlaces, judgeCase, type CaseRoom } from "./cases.ts";
import { fail, pass } from "../judging/case-verdict.ts";
import { pause, realClock } from "../world/clock.ts";
import { target } from "../world/time/testing/time.ts";

const roomFor = (replaces: Partial<CaseRoom> = {}): CaseRoom => ({
  places: createPlaces(1),
  clock: realClock(1_000).join(),
  shortestLifetimeMs: 600_000,
  ...replaces,
});

describe("cases", () => {
  it("run one after another in order of arrival if only one may run at a time", async () => {
    const room = roomFor();
    const steps: string[] = [];
    const judge = (name: string) =>
      judgeCase(room, async () => {
        steps.push(`${name} begins`);
        await pause(2);
        steps.push(`${name} ends`);
        return pass;
      });
    await Promise.all([judge("a"), judge("b"), judge("c")]);
    expect(steps).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it("let the next case start when they first sleep, and when they throw", async () => {
    const room = roomFor();
    const begun: number[] = [];
    const sleeping = Promise.all(
      [1, 2, 3].map((nth) =>
        judgeCase(room, async (clock) => {
          begun.push(nth);
          while (begun.length < 3) await clock.sleep(1);
          return pass;
        }),
      ),
    );
    expect(await sleeping).toEqual([pass, pass, pass]);
    await expect(judgeCase(room, () => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
    expect(await judgeCase(room, () => Promise.resolve(pass))).toEqual(pass);
  });

  it("keep the next case waiting while a limiter makes them wait, for which time moves", async () => {
    const { state, clocks } = target();
    const [one, other] = [clocks.join(), clocks.join()];
    const places = createPlaces(1);
    const steps: string[] = [];
    const judge = (name: string, clock: CaseRoom["clock"]) =>
      judgeCase(roomFor({ places, clock }), async (own) => {
        await own.sleepAsAsked(1_000);
        await own.sleepAsAsked(1_000);
        steps.push(`${name} ${state.nowMs - 1_000_000}`);
        return pass;
      });
    const ofOne = Promise.all([judge("a", one), judge("b", one)]).then(() => one.leave());
    await Promise.all([ofOne, judge("c", other)]);
    expect(steps).toEqual(["a 2000", "b 4000", "c 6000"]);
  });

  it("hold up time again once they have a place", async () => {
    const { state, clocks } = target();
    const rule = clocks.join();
    const slept = clocks.join().sleep(600_000);
    const judgement = await judgeCase(roomFor({ clock: rule }), async () => {
      await pause(25);
      return state.advances.length === 0 ? pass : fail("time stands still", "it moved");
    });
    expect(judgement).toEqual(pass);
    rule.leave();
    await slept;
  });

  it("are inconclusive instead of failed if they took so long that credentials may have expired", async () => {
    const room = roomFor({ shortestLifetimeMs: 100 });
    const breach = fail("it lives", "it is dead");
    const late = await judgeCase(room, async () => {
      await pause(60);
      return breach;
    });
    expect(late).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringMatching(/too slow.*100 ms.*it is dead/) as string,
    });
    const longLived = roomFor({ shortestLifetimeMs: 60_000 });
    expect(
      await judgeCase(longLived, async (clock) => {
        await Promise.all([clock.sleep(20), clock.sleep(30)]);
        return breach;
      }),
    ).toEqual(breach);
  });

  it("are inconclusive as well if the target made them wait so long by turning requests away", async () => {
    const breach = fail("it lives", "it is dead");
    const waited = (waits: (clock: CaseRoom["clock"]) => Promise<unknown>): ReturnType<typeof judgeCase> => {
      let atMs = 0;
      const wait = async (durationMs: number): Promise<void> => {
        const endMs = atMs + durationMs;
        await pause(0);
        atMs = Math.max(atMs, endMs);
      };
      const quick: CaseRoom["clock"] = {
        ...realClock(1_000).join(),
        now: () => Promise.resolve({ earliestMs: atMs, latestMs: atMs }),
        sleepAsAsked: wait,
        branch: () => quick,
      };
      return judgeCase(roomFor({ clock: quick }), async (clock) => {
        await waits(clock);
        return breach;
      });
    };
    const long = await waited(async (clock) => {
      await clock.sleepAsAsked(70_000);
      await clock.sleepAsAsked(70_000);
    });
    expect(long).toMatchObject({ kind: "inconclusive" });
    // Requests that wait at the same time are turned away for that time once.
    const together = await waited((clock) =>
      Promise.all(Array.from({ length: 9 }, () => clock.sleepAsAsked(70_000))),
    );
    expect(together).toEqual(breach);
  });

  it("fail despite a long sleep, which does not count as slowness", async () => {
    const breach = fail("it lives", "it is dead");
    const room = roomFor({ shortestLifetimeMs: 2_000 });
    const judgement = await judgeCase(room, async (clock) => {
      await clock.sleep(600);
      return breach;
    });
    expect(judgement).toEqual(breach);
  });
});
