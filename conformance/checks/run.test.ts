import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Verdict } from "../contract/verdict.ts";
import { fail, pass, discard, inconclusive as undecided, type CaseVerdict } from "../judging/case-verdict.ts";
import { createRun } from "./create-run.ts";
import { Interrupted, type RunContext } from "./context.ts";
import type { Run } from "./rule.ts";
import { ControlFailed, TransportError } from "../world/exchange.ts";
import type { ExchangeRecord, Scope } from "../world/evidence/journal.ts";
import type { World } from "../world/world.ts";

/** A run whose worlds can do one thing: send a request, which leaves an exchange. */
const open = (replaces: Partial<RunContext> = {}) => {
  const kept: ExchangeRecord[] = [];
  let last = 0;
  const inWorld: RunContext["inWorld"] = (scope: Scope, judge) => {
    const send = (): void => {
      last += 1;
      const request = { method: "GET", path: `/${last}`, headers: [] };
      scope.exchanges.push({ n: last, rule: scope.rule, startedMs: 0, durationMs: 0, request });
    };
    return judge({ unique: () => (send(), String(last)) } as unknown as World);
  };
  const run = createRun({
    rule: "code.single-use",
    effort: "standard",
    seed: 42,
    signal: new AbortController().signal,
    shrinkBudgetMs: 2_000,
    inWorld,
    casesAtATime: 6,
    recover: () => Promise.resolve(true),
    keep: (exchanges) => kept.push(...exchanges),
    ...replaces,
  });
  return { run, kept, sent: () => last };
};

const always = (judgement: CaseVerdict) => () => Promise.resolve(judgement);
const wrong = fail("right", "wrong");
/** Passes every value, and notes it. */
const noting =
  <T>(seen: T[]) =>
  (value: T) => {
    seen.push(value);
    return Promise.resolve(pass);
  };
const lost = (reason: TransportError["reason"]) => () =>
  Promise.reject(new TransportError(7, reason, "no answer"));

/** One judge, as each kind of property would run it. */
const ways: readonly (readonly [
  string,
  (run: Run, judge: () => Promise<CaseVerdict>) => Promise<Verdict>,
])[] = [
  ["forAll", (run, judge) => run.forAll(fc.nat(), judge)],
  ["forEach", (run, judge) => run.forEach([1, 2, 3], judge)],
  ["once", (run, judge) => run.once(async () => ({ judgement: await judge() }))],
];

describe.each(ways)("%s", (name, judgeBy) => {
  it("passes with the number of cases that were judged", async () => {
    const cases = { forAll: 25, forEach: 3, once: 1 }[name];
    expect(await judgeBy(open().run, always(pass))).toEqual({ kind: "passed", cases });
  });

  it("where one breach settles the rule, judges nothing after it", async () => {
    const { run, sent } = open({ untilBreach: { isSeen: false }, casesAtATime: 1 });
    const verdict = await run.all([
      judgeBy(run, always(wrong)),
      run.forEach([1, 2], (_value, world) => Promise.resolve(world.unique()).then(() => pass)),
    ]);
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { actual: "wrong", reproduction: { replayed: { attempts: 0 } } },
    });
    expect(sent()).toBeLessThan(2);
  });

  it("is inconclusive where nothing was judged", async () => {
    const verdict = await judgeBy(open().run, always(discard("asks nothing")));
    expect(verdict).toMatchObject({ kind: "inconclusive", cases: 0, reason: "no case was judged" });
  });

  it("is inconclusive where one case could not be decided, and says why", async () => {
    let left = 1;
    const verdict = await judgeBy(open().run, () =>
      Promise.resolve((left -= 1) === 0 ? undecided("the control got no code") : pass),
    );
    expect(verdict).toMatchObject({ kind: "inconclusive" });
    expect(JSON.stringify(verdict)).toContain("the control got no code");
  });

  it("is inconclusive where a control failed", async () => {
    const verdict = await judgeBy(open().run, () => Promise.reject(new ControlFailed("no tokens")));
    expect(verdict).toMatchObject({ kind: "inconclusive", cases: 0 });
  });

  it("tries again after a lost connection, and says so", async () => {
    let left = 3;
    const verdict = await judgeBy(open().run, () =>
      (left -= 1) > 0 ? lost("closed")() : Promise.resolve(pass),
    );
    expect(verdict).toMatchObject({ kind: "passed", facts: { repeated: 2 } });
  });

  it("is inconclusive where no answer ever comes, and does not wait for all of them", async () => {
    let asked = 0;
    const verdict = await judgeBy(open().run, () => {
      asked += 1;
      return lost("timeout")();
    });
    expect(verdict).toMatchObject({ kind: "inconclusive", cases: 0 });
    // Of 25 cases at most those that are under way at the same time get their three tries.
    expect(asked).toBeLessThanOrEqual(18);
  });

  it("throws what is no judgement, whatever it is", async () => {
    for (const error of [new TypeError("a slip of the rule"), new Interrupted(), new RangeError("x")])
      await expect(judgeBy(open().run, () => Promise.reject(error))).rejects.toBe(error);
  });

  it("fails with what was expected and seen, its exchanges, and how often it came back", async () => {
    const { run, kept } = open();
    const judge = (world: World): Promise<CaseVerdict> => {
      world.unique();
      world.unique();
      return Promise.resolve(wrong);
    };
    const verdict = await {
      forAll: () => run.forAll(fc.nat(), (_, world) => judge(world)),
      forEach: () => run.forEach([1, 2, 3], (_, world) => judge(world)),
      once: () => run.once(async (world) => ({ judgement: await judge(world) })),
    }[name as "forAll"]();
    const attempts = name === "once" ? 2 : 4;
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: {
        expected: "right",
        actual: "wrong",
        reproduction: { seed: 42, replayed: { failures: attempts, attempts } },
      },
    });
    if (verdict.kind !== "failed") throw new Error("it did not fail");
    expect(verdict.breach.evidence).toHaveLength(2);
    expect(kept.map(({ n }) => n)).toEqual(verdict.breach.evidence);
  });

  it("reports a failure that does not come back with its rate", async () => {
    let judged = 0;
    const verdict = await judgeBy(open().run, () => {
      judged += 1;
      return Promise.resolve(judged === 1 ? wrong : pass);
    });
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { reproduction: { replayed: { failures: 0, attempts: name === "once" ? 2 : 4 } } },
    });
  });

  it("counts no replay that could not be decided, and forgets no breach for one that cannot be run", async () => {
    let judged = 0;
    const verdict = await judgeBy(open().run, () => {
      judged += 1;
      if (judged === 1) return Promise.resolve(wrong);
      return judged % 2 === 0
        ? Promise.resolve(undecided("no control"))
        : Promise.reject(new TypeError("a slip"));
    });
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { actual: "wrong", reproduction: { replayed: { failures: 0, attempts: 0 } } },
    });
  });

  it("says nothing once the run is interrupted, also where a refusal was really a cut connection", async () => {
    for (const ending of [pass, wrong]) {
      const interrupt = new AbortController();
      const { run } = open({ signal: interrupt.signal });
      const judged = judgeBy(run, () => {
        interrupt.abort();
        return Promise.resolve(ending);
      });
      await expect(judged).rejects.toBeInstanceOf(Interrupted);
      await expect(judgeBy(run, always(pass))).rejects.toBeInstanceOf(Interrupted);
    }
  });
});

describe("a property over generated values", () => {
  const isSmall = async (value: number): Promise<CaseVerdict> =>
    Promise.resolve(value < 50 ? pass : fail("less than 50", `it is ${value}`));

  it("judges the same values for the same seed, and others for another", async () => {
    const valuesOf = async (seed: number): Promise<readonly number[]> => {
      const seen: number[] = [];
      await open({ seed }).run.forAll(fc.integer(), noting(seen));
      return seen;
    };
    expect(await valuesOf(1)).toEqual(await valuesOf(1));
    expect(await valuesOf(1)).not.toEqual(await valuesOf(2));
  });

  it("judges other values in another part of the rule", async () => {
    const { run } = open();
    const seen: Record<string, number[]> = { a: [], b: [] };
    for (const [part, values] of Object.entries(seen))
      await run.forAll(fc.integer(), noting(values), { part });
    expect(seen["a"]).not.toEqual(seen["b"]);
  });

  it("judges its examples first", async () => {
    const seen: number[] = [];
    await open().run.forAll(fc.nat(), noting(seen), { examples: [-7, -8] });
    expect(seen.slice(0, 2)).toEqual([-7, -8]);
    expect(seen).toHaveLength(25);
  });

  it("shrinks to the smallest value, and tells what that one showed", async () => {
    const verdict = await open().run.forAll(fc.nat(), isSmall, { print: (value) => `<${value}>` });
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { actual: "it is 50", reproduction: { counterexample: "<50>" } },
    });
  });

  it("comes back to that value first when it is run from its path", async () => {
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

  it("reports a value that fails alone, where the first one failed only beside other cases", async () => {
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

  it("fails with the first value where the budget for shrinking is nothing", async () => {
    const verdict = await open({ shrinkBudgetMs: 0 }).run.forAll(fc.nat(), isSmall);
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { reproduction: { replayed: { failures: 4 } } },
    });
  });

  it("fails with the first value where shrinking meets an error of the harness", async () => {
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

  it("is inconclusive where preconditions turn down almost everything", async () => {
    let left = 1;
    const verdict = await open().run.forAll(fc.nat(), () => {
      fc.pre((left -= 1) === 0);
      return Promise.resolve(pass);
    });
    expect(verdict).toMatchObject({ kind: "inconclusive", cases: 1 });
  });
});

describe("a list of values", () => {
  it("is judged to its end, and the breach lists all that broke", async () => {
    const judged: number[] = [];
    const verdict = await open().run.forEach([1, 2, 3, 4, 5, 6, 7, 8, 9], (value) => {
      judged.push(value);
      return Promise.resolve(value % 3 === 0 ? wrong : pass);
    });
    expect(new Set(judged)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(verdict).toMatchObject({
      kind: "failed",
      cases: 9,
      facts: { broken: ["3", "6", "9"], brokenCases: 3 },
      breach: { reproduction: { counterexample: "3" } },
    });
  });

  it("reports the one probe that breaks in place of the group that it stood in", async () => {
    const verdict = await open().run.forEach(
      [[1, 2, 4], [5, 6, 7, 9], [8]],
      (probes) => Promise.resolve(probes.some((probe) => probe % 3 === 0) ? wrong : pass),
      { print: String, narrower: (probes) => probes.map((probe) => [probe]) },
    );
    expect(verdict).toMatchObject({
      facts: { broken: ["5,6,7,9"] },
      breach: { reproduction: { counterexample: "6", replayed: { failures: 4, attempts: 4 } } },
    });
  });

  it("reports the whole group where no probe breaks by itself, and cuts what is long", async () => {
    const verdict = await open().run.forEach(
      [Array.from({ length: 90 }, (_, probe) => probe)],
      (probes) => Promise.resolve(probes.length > 1 ? wrong : pass),
      { print: String, narrower: (probes) => probes.map((probe) => [probe]) },
    );
    expect(verdict).toMatchObject({
      facts: { broken: [expect.stringMatching(/^0,1,2,.*… \(\d+ characters more\)$/)] },
      breach: { reproduction: { counterexample: expect.stringMatching(/89$/) } },
    });
  });

  it("counts what was judged, not what was set aside", async () => {
    const verdict = await open().run.forEach([1, 2, 3], (value) =>
      Promise.resolve(value === 2 ? discard("in the guard") : pass),
    );
    expect(verdict).toEqual({ kind: "passed", cases: 2 });
  });

  it("is inconclusive where it is empty", async () => {
    expect(await open().run.forEach([], always(pass))).toMatchObject({ kind: "inconclusive", cases: 0 });
  });
});

describe("one history", () => {
  it("counts the decisions that it holds, and none where it was set aside or holds none", async () => {
    const { run } = open();
    const judging = (judgement: CaseVerdict, cases: number) => () => Promise.resolve({ judgement, cases });
    expect(await run.once(judging(pass, 12))).toEqual({ kind: "passed", cases: 12 });
    expect(await run.once(judging(discard("nothing to ask"), 12))).toMatchObject({
      kind: "inconclusive",
      cases: 0,
    });
    expect(await run.once(judging(pass, 0))).toMatchObject({ kind: "inconclusive", cases: 0 });
  });
});

describe("an observation", () => {
  it("gives equal facts the same bytes, whatever the order in which they were found", async () => {
    const { run } = open();
    const [one, other] = [
      await run.observe(() => Promise.resolve({ b: [1, { d: 1, c: 2 }], a: "x" })),
      await run.observe(() => Promise.resolve({ a: "x", b: [1, { c: 2, d: 1 }] })),
    ];
    expect(one).toEqual({ kind: "observed", cases: 1, fingerprint: '{"a":"x","b":[1,{"c":2,"d":1}]}' });
    expect(other).toEqual(one);
  });

  it("has a fingerprint where it found nothing, and none where a control failed", async () => {
    const { run } = open();
    expect(await run.observe(() => Promise.resolve(undefined))).toMatchObject({ fingerprint: "null" });
    expect(await run.observe(() => Promise.reject(new ControlFailed("no code")))).toMatchObject({
      kind: "inconclusive",
      reason: "no code",
    });
  });
});

it("judges more cases with more effort, and never fewer than two", () => {
  const casesAt = (effort: RunContext["effort"]) => open({ effort }).run.cases();
  expect(casesAt("quick")).toBeLessThan(casesAt("standard"));
  expect(casesAt("standard")).toBeLessThan(casesAt("thorough"));
  expect(open({ effort: "quick" }).run.cases(0.01)).toBe(2);
});

it("parts keep a breach that one has seen though another cannot go on, and otherwise say why that is", async () => {
  const { run } = open();
  const broken = run.forEach([1], always(wrong));
  const slip = new TypeError("a slip");
  expect((await run.all([Promise.reject(slip), broken])).kind).toBe("failed");
  await expect(run.all([run.forEach([1], always(pass)), Promise.reject(slip)])).rejects.toBe(slip);
});
