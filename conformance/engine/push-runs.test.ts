import { describe, expect, it } from "vitest";
import { judge } from "../testing/bench.ts";
import { judgeDefect, ruleFor } from "../testing/seeded.ts";

/** The number of cases that a push rule judged in a detection, which stops at the first breach. */
const casesOf = async (name: string): Promise<number> => {
  const { verdict } = await judgeDefect(name, { stopAtBreach: true });
  if (verdict.kind !== "failed") throw new Error(JSON.stringify(verdict));
  return verdict.cases;
};

describe("a push run that stops at the first breach", () => {
  it("tries failures of later pushes unless the breach was seen before", async () => {
    const rule = ruleFor("push.unacknowledged-retries");
    const [sound, plain, later] = await Promise.all([
      judge(rule, { stopAtBreach: true }),
      casesOf("push-redirect-taken-for-success"),
      casesOf("push-third-refused-final"),
    ]);
    expect(sound.kind).toBe("passed");
    expect(later).toBeGreaterThan(plain);
  });
});
