import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { noting, open, wrong } from "./testing/open-run.ts";

describe("forAll", () => {
  const isSmall = async (value: number): Promise<CaseVerdict> =>
    Promise.resolve(value < 50 ? pass : fail("less than 50", `it is ${value}`));

  it("judges the same values for the same seed, and different ones for another seed", async () => {
    const valuesOf = async (seed: number): Promise<readonly number[]> => {
      const seen: number[] = [];
      await open({ seed }).run.forAll(fc.integer(), noting(seen));
      return seen;
    };
    expect(await valuesOf(1)).toEqual(await valuesOf(1));
    expect(await valuesOf(1)).not.toEqual(await valuesOf(2));
  });

  it("judges different values in another part of the rule", async () => {
    const { run } = open();
    const seen: Record<string, number[]> = { a: [], b: [] };
    for (const [part, values] of Object.entries(seen))
      await run.forAll(fc.integer(), noting(values), { part });
    expect(seen["a"]).not.toEqual(seen["b"]);
  });

  it("judges a few values at a time, and starts nothing more after a breach", async () => {
    const begun: number[] = [];
    let underWay = 0;
    let most = 0;
    const { run } = open({ shrinking: { tries: 0, mostMs: 0 } });
    await run.forAll(
      fc.nat(),
      async (value) => {
        begun.push(value);
        underWay += 1;
        most = Math.max(most, underWay);
        await Promise.resolve();
        underWay -= 1;
        return value === -2 ? wrong : pass;
      },
      { examples: [-1, -2] },
    );
    expect(most).toBe(6);
    // Six beside the one that fails, and its four replays.
    expect(begun.length).toBeLessThanOrEqual(7 + 4);
    expect(underWay).toBe(0);
  });

  it("judges its examples first", async () => {
    const seen: number[] = [];
    await open().run.forAll(fc.nat(), noting(seen), { examples: [-7, -8] });
    expect(seen.slice(0, 2)).toEqual([-7, -8]);
    expect(seen).toHaveLength(25);
  });

  it("shrinks to the smallest failing value, and reports its failure", async () => {
    const verdict = await open().run.forAll(fc.nat(), isSmall, { print: (value) => `<${value}>` });
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { actual: "it is 50", reproduction: { counterexample: "<50>" } },
    });
  });

  it("starts with the shrunk value when run from its path", async () => {
    for (const options of [{}, { part: "a part" }, { examples: [1, 2, 3] }, { examples: [999] }]) {
      const found = await open().run.forAll(fc.nat(), isSmall, options);
      if (found.kind !== "failed" || found.breach.reproduction.path === undefined)
        throw new Error("it did not fail with a path");
      const path = { part: found.breach.part, path: found.breach.reproduction.path };
      const seen: number[] = [];
      const again = await open({ path }).run.forAll(
        fc.nat(),
        (value) => {
          seen.push(value);
          return isSmall(value);
        },
        options,
      );
      expect(again.kind).toBe("failed");
      expect(fc.stringify(seen[0])).toBe(found.breach.reproduction.counterexample);
    }
  });

  it("reports a value that fails alone if the first one failed only beside other cases", async () => {
    let underWay = 0;
    const verdict = await open().run.forAll(
      fc.nat(),
      async (value) => {
        underWay += 1;
        const isBesideOthers = underWay > 1;
        await Promise.resolve();
        underWay -= 1;
        return isBesideOthers ? wrong : isSmall(value);
      },
      { examples: [1, 2, 3] },
    );
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { reproduction: { counterexample: "50", replayed: { failures: 4, attempts: 4 } } },
    });
  });

  it("fails with the first value if shrinking meets an error of the harness", async () => {
    let judged = 0;
    const verdict = await open().run.forAll(
      fc.nat(),
      (value) => {
        judged += 1;
        return judged > 1 && value < 60 && value >= 50
          ? Promise.reject(new TypeError("a slip of the rule"))
          : isSmall(value);
      },
      { examples: [5_000] },
    );
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { actual: expect.stringMatching(/^it is/) as string },
    });
  });

  it("is inconclusive if preconditions reject almost all values", async () => {
    let left = 1;
    const verdict = await open().run.forAll(fc.nat(), () => {
      fc.pre((left -= 1) === 0);
      return Promise.resolve(pass);
    });
    expect(verdict).toMatchObject({ kind: "inconclusive", cases: 1 });
  });
});
