import { describe, expect, it } from "vitest";
import { pause, realTime } from "../clock.ts";
import { sleepOnEither } from "../http/throttling.ts";
import { target } from "./testing/time.ts";

describe("a sleep with slack", () => {
  it("ends together with others that are due within its slack, in one move of the clock", async () => {
    const { state, clocks } = target();
    const rule = clocks.join();
    const cases = [rule.branch(), rule.branch(), rule.branch()];
    const woken = await Promise.all(
      [
        [100, 50],
        [120, 50],
        [140, 50],
      ].map(async ([forMs = 0, slackMs], index) => {
        await cases[index]?.sleep(forMs, slackMs);
        return state.nowMs;
      }),
    );
    expect(state.advances).toEqual([140]);
    expect(woken).toEqual([1_000_140, 1_000_140, 1_000_140]);
  });

  it("delays no other sleep beyond that one's own slack", async () => {
    const { state, clocks } = target();
    const rule = clocks.join();
    const at: Record<string, number> = {};
    const sleep = async (name: string, forMs: number, slackMs?: number): Promise<void> => {
      const own = rule.branch();
      await own.sleep(forMs, slackMs);
      at[name] = state.nowMs - 1_000_000;
      own.leave();
    };
    await Promise.all([sleep("loose", 100, 1_000), sleep("strict", 150), sleep("far", 160, 500)]);
    // The strict sleep limits the first move, and the loose one ends with it.
    expect(at).toEqual({ loose: 150, strict: 150, far: 160 });
  });

  it("has another slack if time runs by itself", async () => {
    const { state, clocks } = target();
    const [one, other] = [clocks.join(), clocks.join()];
    await Promise.all([
      one.sleepUntil(1_000_100, 0, 1_000).then(() => one.leave()),
      other.sleepUntil(1_000_150),
    ]);
    expect(state.advances).toEqual([100, 50]);
  });

  it("is no longer than asked if no other sleeps", async () => {
    const { state, clocks } = target();
    await clocks.join().sleep(100, 10_000);
    expect(state.nowMs).toBe(1_000_100);
  });
});

describe("a sleep on either clock", () => {
  it("ends by the target's clock if that is advanced", async () => {
    const { state, clocks } = target();
    await sleepOnEither(clocks.join(), realTime, 600_000);
    expect(state.advances).toEqual([600_000]);
  });

  it("ends by this machine's clock if the target's is held up", async () => {
    const { state, clocks } = target();
    const awake = clocks.join().branch();
    const patient = clocks.join();
    await sleepOnEither(patient, realTime, 15);
    expect(state.advances).toEqual([]);
    // It leaves no sleeper behind for which the clock would move or stand still.
    const other = patient.sleep(50);
    await pause(15);
    expect(state.advances).toEqual([]);
    awake.leave();
    await other;
    expect(state.advances).toEqual([50]);
  });

  it("limits a move of the clock like any other sleep", async () => {
    const { state, clocks } = target();
    const order: string[] = [];
    const [one, other] = [clocks.join(), clocks.join()];
    const either = async (): Promise<void> => {
      await sleepOnEither(one, realTime, 60_000);
      order.push(`either at ${state.nowMs - 1_000_000}`);
      one.leave();
    };
    const plain = async (): Promise<void> => {
      await other.sleep(90_000);
      order.push(`plain at ${state.nowMs - 1_000_000}`);
    };
    await Promise.all([either(), plain()]);
    expect(order).toEqual(["either at 60000", "plain at 90000"]);
  });

  it("fails when the run is interrupted", async () => {
    const stop = new AbortController();
    const { clocks } = target({ signal: stop.signal });
    const awake = clocks.join().branch();
    const slept = sleepOnEither(clocks.join(), realTime, 600_000).then(
      () => "slept",
      (error: unknown) => String(error),
    );
    await pause(5);
    stop.abort();
    expect(await slept).toContain("interrupted");
    awake.leave();
  });
});
