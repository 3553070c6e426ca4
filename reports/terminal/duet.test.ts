import { describe, expect, it } from "vitest";
import type { Block } from "../../conformance/contract/duet.ts";
import { judgeDuet } from "../duet/judge.ts";
import { usualRules } from "../duet/model.ts";
import { planFor } from "../duet/plan.ts";
import { renderDuet, renderPlan } from "./duet.ts";
import { plain } from "./palette.ts";

const page = { palette: plain, columns: 100 };

/** Ten pairs in which b is slower by a fifth; the fourth one was spoilt. */
const blocks = Array.from({ length: 10 }, (_, pair) => pair).flatMap((pair) =>
  (["a", "b"] as const).map((side): Block => {
    const p50Ms = (side === "a" ? 20 : 24) * (1 + 0.02 * ((pair * 7) % 5));
    return {
      pair,
      side,
      endpoint: "list\u001b[31m",
      p50Ms,
      p95Ms: 2 * p50Ms,
      p99Ms: 3 * p50Ms,
      throughput: 100,
      ...(pair === 3 && side === "b" ? { spoilt: "4 dropped iterations" } : {}),
    };
  }),
);

describe("a duet on the terminal", () => {
  const text = renderDuet(judgeDuet(blocks, { ...usualRules, pairs: 12 }), { ...page, a: "old", b: "new" });

  it("says for each judged metric what changed, from where on it matters, and what could have been seen", () => {
    expect(text).toMatch(
      /p50 +20\.8 ms +25\.0 ms +\+20 % +\+20 % to \+20 % +<0\.001 +5 % +under 0\.1 % +✗ regressed/,
    );
    expect(text).toContain("9 of 12 planned pairs");
    expect(text).toContain("pair 4: b: 4 dropped iterations");
    expect(text.trimEnd().endsWith("✗ regressed")).toBe(true);
  });

  it("shows throughput and p99 without a verdict, and no control characters", () => {
    const shown = text.slice(text.indexOf("Shown"));
    expect(shown).toMatch(/throughput +100\.0\/s +100\.0\/s +0 %/);
    expect(text).toContain(String.raw`list\x1b[31m`);
  });

  it("tells how many pairs a change needs", () => {
    const noisy = blocks.map((block) => ({
      ...block,
      p50Ms: block.p50Ms + (block.side === "b" ? block.pair / 4 : 0),
    }));
    const plan = renderPlan(planFor(0.05, noisy, usualRules), page);
    expect(plan).toMatch(/^\d+ pairs find a change of 5 % in every judged metric: --pairs \d+\n/);
    expect(plan).toContain("From 9 pilot pairs");
  });
});
