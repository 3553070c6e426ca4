import { once } from "node:events";
import net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { serveTcp } from "../../conformance/testing/servers.ts";
import { createReceiverClock, type ReceiverClock, type Stamp } from "./clock.ts";

const clocks: ReceiverClock[] = [];
afterEach(() => {
  for (const clock of clocks.splice(0)) clock.stop();
});

const clockOf = (): ReceiverClock => {
  const clock = createReceiverClock();
  clocks.push(clock);
  return clock;
};

/** Keeps the event loop busy, as a receiver under load does. */
const busy = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until;);
};

describe("the receiver's clock", () => {
  it("counts from its creation and never goes backwards", () => {
    const madeMs = performance.now();
    const clock = clockOf();
    const first = clock.nowMs();
    expect(first).toBeGreaterThanOrEqual(0);
    expect(first).toBeLessThanOrEqual(performance.now() - madeMs);
    busy(2);
    expect(clock.nowMs()).toBeGreaterThan(first);
    expect(new Date(clock.httpDate()).getTime()).toBeLessThanOrEqual(Date.parse(clock.wallTime()));
  });

  it("states as uncertainty of a stamp most of the time for which the event loop was busy", async () => {
    const clock = clockOf();
    const stamps: Stamp[] = [];
    await using server = await serveTcp((socket) => {
      socket.on("data", () => stamps.push(clock.stamp()));
    });
    const socket = net.connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.setNoDelay(true);
    for (let round = 0; round < 5; round += 1) {
      const seen = stamps.length;
      const sentMs = clock.nowMs();
      socket.write("x");
      busy(60);
      while (stamps.length === seen) await new Promise((resolve) => setImmediate(resolve));
      const { ms, uncertaintyMs } = stamps.at(-1) as Stamp;
      expect(ms - sentMs).toBeGreaterThanOrEqual(59);
      // The bytes came at `sentMs`, before the loop was busy. For how long the machine did not wake the process after
      // that, nothing here can know.
      expect(uncertaintyMs).toBeGreaterThan(30);
    }
    socket.destroy();
  });

  it("cancels one task, and all tasks when it stops", async () => {
    const clock = clockOf();
    const done: string[] = [];
    clock.after(1, () => done.push("kept"));
    clock.after(1, () => done.push("cancelled"))();
    await new Promise((resolve) => setTimeout(resolve, 20));
    clock.after(1, () => done.push("forgotten"));
    clock.stop();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(done).toEqual(["kept"]);
  });
});
