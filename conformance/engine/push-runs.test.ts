import { describe, expect, it } from "vitest";
import { judge } from "../testing/bench.ts";
import { judgeDefect, ruleFor } from "../testing/seeded.ts";

/** How many cases a push rule had in a detection, which one breach is enough for. */
const casesOf = async (name: string): Promise<number> => {
  const { verdict } = await judgeDefect(name, { stopAtBreach: true });
  if (verdict.kind !== "failed") throw new Error(JSON.stringify(verdict));
  return verdict.cases;
};

describe("a push run of which one breach is enough", () => {
  it("tries what later pushes meet unless its watch has shown the breach", async () => {
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
