import { describe, expect, it } from "vitest";
import { drivers } from "../../testing/push-drivers.ts";
import { traces, type Driver } from "../../testing/push-traces.ts";

/** Only the gate says that something is undecided; of a push that was off in the picture it is known by its moment. */
const isAsMade = (made: string, seen: unknown, driver: Driver): boolean =>
  seen === made || (made === "open" && driver !== "gate" && (seen === "kept" || driver === "picture"));

describe("one verdict of gate, load, receiver page and schedule picture", () => {
  it("on several hundred traces", () => {
    expect(traces.length).toBeGreaterThan(400);
  });

  it.each(Object.keys(drivers) as Driver[])("of the %s is the one that each trace was made for", (driver) => {
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
