import { describe, expect, it } from "vitest";
import { drivers } from "../../testing/push-drivers.ts";
import { recordedTraces } from "../../testing/journals/recorded.ts";
import { traces as made, type Driver } from "../../testing/push-traces.ts";

const traces = [...made, ...recordedTraces];

/** Only the gate says "undecided"; in the picture a deviating push is recognized by its moment. */
const isAsMade = (made: string, seen: unknown, driver: Driver): boolean =>
  seen === made || (made === "open" && driver !== "gate" && (seen === "kept" || driver === "picture"));

describe("one verdict of gate, load, receiver page and schedule picture", () => {
  it("on several hundred synthetic traces, and on the journals of real runs", () => {
    expect(made.length).toBeGreaterThan(400);
    expect(recordedTraces).toHaveLength(35);
  });

  it.each(Object.keys(drivers) as Driver[])("by the %s is the one each trace was built for", (driver) => {
    const differing = traces
      .filter(({ notFor }) => !notFor.includes(driver))
      .flatMap((trace) => {
        const seen: Readonly<Record<string, unknown>> = drivers[driver](trace);
        const wrong = Object.entries(seen).filter(
          ([what, verdict]) => !isAsMade(trace.verdict[what as keyof typeof trace.verdict], verdict, driver),
        );
        return wrong.map(([what, verdict]) => `${trace.name}: ${what} ${String(verdict)}`);
      });
    expect(differing).toEqual([]);
  });
});
