import { expect, it } from "vitest";
import { endOf } from "./k6/exit.ts";
import { earlyOutcome } from "./verdicts.ts";

const none = { count: 0, first: [] };

it("a service too slow for the set-up leaves the load incomplete, and is no fault of the harness", () => {
  const outcomeAfter = (exitCode: number) => {
    const end = endOf(exitCode, null, false);
    return earlyOutcome({ end, stopped: `k6 ${end.meaning}`, exceptions: none }, false);
  };
  expect(outcomeAfter(100)).toBe("incomplete");
  expect(outcomeAfter(107)).toBe("harness-error");
});
