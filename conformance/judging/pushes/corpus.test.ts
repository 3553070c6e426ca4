import { describe, expect, it } from "vitest";
import { drivers } from "../../testing/push-drivers.ts";
import { traces, type Driver } from "../../testing/push-traces.ts";

/** Only the gate says "undecided"; in the picture a deviating push is recognized by its moment. */
const isExpected = (expected: string, seen: unknown, driver: Driver): boolean =>
  seen === expected ||
  (expected === "open" && driver !== "gate" && (seen === "kept" || driver === "picture"));

describe("the verdicts of gate, load, receiver page and schedule picture", () => {
  it("are compared on more than 400 traces", () => {
    expect(traces.length).toBeGreaterThan(400);
  });

  it.each(Object.keys(drivers) as Driver[])("match what each trace was built for (%s)", (driver) => {
    const differing = traces
      .filter(({ notFor }) => !notFor.includes(driver))
      .flatMap((trace) => {
        const seen: Readonly<Record<string, unknown>> = drivers[driver](trace);
        const wrong = Object.entries(seen).filter(
          ([what, verdict]) =>
            !isExpected(trace.verdict[what as keyof typeof trace.verdict], verdict, driver),
        );
        return wrong.map(([what, verdict]) => `${trace.name}: ${what} ${String(verdict)}`);
      });
    expect(differing).toEqual([]);
  });
});
