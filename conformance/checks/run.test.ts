import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Verdict } from "../contract/verdict.ts";
import { fail, pass, discard, inconclusive as undecided, type CaseVerdict } from "../judging/case-verdict.ts";
import { ControlFailed } from "../world/exchange.ts";
import { breach } from "../testing/made.ts";
import type { World } from "../world/world.ts";
import { Interrupted } from "./context.ts";
import type { Run } from "./rule.ts";
import { always, lost, open, wrong } from "./testing/open-run.ts";

/** Each method of a run that judges cases, called with the same judge. */
const methods: readonly (readonly [
  string,
  (run: Run, judge: (world: World) => Promise<CaseVerdict>) => Promise<Verdict>,
])[] = [
  ["forAll", (run, judge) => run.forAll(fc.nat(), (_, world) => judge(world))],
  ["forEach", (run, judge) => run.forEach([1, 2, 3], (_, world) => judge(world))],
  ["once", (run, judge) => run.once(judge)],
];

describe.each(methods)("%s", (name, judgeBy) => {
  it("passes with the number of cases that were judged", async () => {
    const cases = { forAll: 25, forEach: 3, once: 1 }[name];
    expect(await judgeBy(open().run, always(pass))).toEqual({ kind: "passed", cases });
  });

  it("judges nothing after a breach that settles the rule", async () => {
    const { run, sent } = open({ untilBreach: { isSeen: false }, casesAtATime: 1 });
    const verdict = await run.all([
      judgeBy(run, always(wrong)),
      run.forEach([1, 2], (_value, world) => Promise.resolve(world.target.unique()).then(() => pass)),
    ]);
    expect(verdict).toMatchObject({
      kind: "failed",
      breach: { actual: "wrong", reproduction: { replayed: { attempts: 0 } } },
    });
    expect(sent()).toBeLessThan(2);
  });

  it.each([
    ["nothing was judged", always(discard("asks nothing")), "no case was judged: asks nothing"],
    ["a control failed", () => Promise.reject(new ControlFailed("no tokens")), "no tokens"],
  ])("is inconclusive, with the reason, if %s", async (_, judge, reason) => {
    const verdict = await judgeBy(open().run, judge);
    expect(verdict).toMatchObject({
      kind: "inconclusive",
      cases: 0,
      reason: expect.stringContaining(reason) as string,
    });
  });

  it("is inconclusive, with the reason, if one case could not be decided", async () => {
    let left = 1;
    const verdict = await judgeBy(open().run, () =>
      Promise.resolve((left -= 1) === 0 ? undecided("the control got no code") : pass),
    );
    expect(verdict).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("the control got no code") as string,
    });
  });

  it("plays a case again after a lost connection, and counts how often", async () => {
    let left = 3;
    const verdict = await judgeBy(open().run, () =>
      (left -= 1) > 0 ? lost("closed")() : Promise.resolve(pass),
    );
    expect(verdict).toMatchObject({ kind: "passed", facts: { repeated: 2 } });
  });

  it.each([
    ["timeout", [false, true, true]],
    ["closed", [false, false, false]],
  ] as const)("keeps no connection in the tries after a %s", async (reason, expected) => {
    const kept: boolean[] = [];
    let left = 3;
    const { run } = open({
      casesAtATime: 1,
      inWorld: (scope) => {
        kept.push(scope.keepsNoConnection);
        return (left -= 1) > 0 ? lost(reason)() : Promise.resolve(pass);
      },
    });
    expect(await judgeBy(run, always(pass))).toMatchObject({ kind: "passed" });
    expect(kept.slice(0, 3)).toEqual(expected);
  });

  it.each([
    ["timeout", "tolerances.requestTimeoutMs"],
    ["throttled", "rate limit"],
    ["closed", "connections stay open"],
  ] as const)("says what would settle it if the answers were lost: %s", async (reason, settle) => {
    const verdict = await judgeBy(open().run, lost(reason));
    expect(verdict).toMatchObject({
      kind: "inconclusive",
      settle: expect.stringContaining(settle) as string,
    });
  });

  it("is inconclusive if no answer ever comes, without waiting for every case", async () => {
    let asked = 0;
    const verdict = await judgeBy(open().run, () => {
      asked += 1;
      return lost("timeout")();
    });
    expect(verdict).toMatchObject({ kind: "inconclusive", cases: 0 });
    // Of 25 cases, at most those running concurrently are played again three times.
    expect(asked).toBeLessThanOrEqual(24);
  });

  it("rejects with any error that is not a judgement", async () => {
    for (const error of [new TypeError("a slip of the rule"), new Interrupted(), new RangeError("x")])
      await expect(judgeBy(open().run, () => Promise.reject(error))).rejects.toBe(error);
  });

  it("fails with the expected and actual behaviour, the exchanges, and how often it recurred", async () => {
    const { run, kept } = open();
    const verdict = await judgeBy(run, (world) => {
      world.target.unique();
      world.target.unique();
      return Promise.resolve(wrong);
    });
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

  it("keeps the shortest proof that a replay gave, not that of the shortest case", async () => {
    const { run, kept } = open();
    // At first three of three exchanges show it, then one of four.
    let sent = 3;
    await judgeBy(run, async (world) => {
      const numbers = Array.from({ length: sent }, () => Number(world.target.unique()));
      const shown = sent === 3 ? numbers : numbers.slice(-1);
      sent = 4;
      return fail("right", "wrong", shown);
    });
    expect(kept).toHaveLength(1);
  });

  it("reports the replay rate of a failure that does not recur", async () => {
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

  it("does not count undecided replays, and keeps the breach if a replay cannot run", async () => {
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

  it("gives no verdict once the run is interrupted", async () => {
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

describe("a single case", () => {
  it("counts the decisions that it made, and none if it was discarded", async () => {
    const { run } = open();
    const judging = (judgement: CaseVerdict, cases: number) => () => Promise.resolve({ ...judgement, cases });
    expect(await run.once(judging(pass, 12))).toEqual({ kind: "passed", cases: 12 });
    expect(await run.once(judging(discard("nothing to ask"), 12))).toMatchObject({
      kind: "inconclusive",
      cases: 0,
    });
    expect(await run.once(judging(pass, 0))).toMatchObject({ kind: "inconclusive", cases: 0 });
  });
});

describe("an observation", () => {
  it("has a fingerprint even without facts, but none if a control failed", async () => {
    const { run } = open();
    expect(await run.observe(() => Promise.resolve(undefined))).toMatchObject({ fingerprint: "null" });
    expect(await run.observe(() => Promise.reject(new ControlFailed("no code")))).toMatchObject({
      kind: "inconclusive",
      reason: "no code",
    });
  });
});

it("a rule of several parts fails if one part found a breach, even if another throws; otherwise it throws", async () => {
  const { run } = open();
  const broken = run.forEach([1], always(wrong));
  const slip = new TypeError("a slip");
  expect((await run.all([Promise.reject(slip), broken])).kind).toBe("failed");
  await expect(run.all([run.forEach([1], always(pass)), Promise.reject(slip)])).rejects.toBe(slip);
});

const verdicts = {
  passed: { kind: "passed", cases: 3, facts: { a: 1 } },
  failed: { kind: "failed", cases: 2, facts: { broken: ["x"] }, breach: breach() },
  warned: { kind: "warned", cases: 2, breach: breach() },
  inconclusive: { kind: "inconclusive", reason: "no control", settle: "a control", cases: 1 },
  "harness-error": { kind: "harness-error", message: "a slip" },
  "could-not-run": { kind: "could-not-run", missing: "events", reason: "no hook" },
  pending: { kind: "pending", due: "2027", reason: "30 days" },
  "not-applicable": { kind: "not-applicable", by: "profile", reason: "none" },
  observed: { kind: "observed", cases: 1, fingerprint: "1" },
} as const satisfies Record<Verdict["kind"], Verdict>;

describe("the verdict over several parts", () => {
  const of = (...kinds: readonly Verdict["kind"][]) => open().run.all(kinds.map((kind) => verdicts[kind]));

  it("is the worst verdict, with the cases and facts of all parts", async () => {
    const both = { kind: "failed", cases: 5, facts: { a: 1, broken: ["x"] } };
    expect(await of("passed", "failed")).toMatchObject(both);
    expect(await of("passed", "inconclusive", "passed")).toMatchObject({ kind: "inconclusive", cases: 7 });
    expect((await of("inconclusive", "harness-error")).kind).toBe("harness-error");
    expect((await of("harness-error", "failed")).kind).toBe("failed");
    await expect(of()).rejects.toThrow("at least one part");
  });

  it.each(Object.keys(verdicts) as Verdict["kind"][])(
    "is %s if that is what another part is",
    async (kind) => {
      expect((await of("passed", kind)).kind).toBe(kind);
      expect((await of(kind, "passed")).kind).toBe(kind);
    },
  );
});
