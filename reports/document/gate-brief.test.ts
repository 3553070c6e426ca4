import { describe, expect, it } from "vitest";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import type { Verdict } from "../../conformance/contract/verdict.ts";
import {
  allPassed,
  breachOf,
  exchanged,
  recordOf,
  resultOf,
  ruleThat,
  withResults,
} from "../testing/fixture.ts";
import { failedRecord, measuredLifetimes, onTerminal } from "../testing/shown.ts";
import { gateDoc } from "./gate.ts";

const render = (record: RunRecord, columns?: number): string =>
  onTerminal(gateDoc({ record, directory: "runs/one" }), columns);

const lifetime = ruleThat.passed("code.lifetime", 12, {
  ...measuredLifetimes,
  "never probed": { lifetimeMs: 600_000 },
});
const length = ruleThat.passed("authorize.state-length", 8, {
  readings: ["bytes-after-decoding"],
  encodedLetters: "accepted",
});
const schedule = ruleThat.passed("push.schedule", 14, {
  readings: ["R1"],
  anchors: ["failure"],
  schedule: [0, 30_000].map((ms, at) => ({
    push: at + 1,
    afterMs: Math.max(0, ms - 1_000),
    beforeMs: ms,
    expectedMs: { R1: ms, R2: ms },
  })),
});

describe("the short report", () => {
  it("fits one page if every rule passed", () => {
    const text = render(recordOf({ rules: withResults(lifetime, length, schedule) }));
    expect(text.split("\n").length).toBeLessThan(60);
    expect(text).toMatchInlineSnapshot(`
      "Target       embedded reference service
                   http://127.0.0.1:40123
      Behaviour    sound
      Limits       the document’s own
      Started      2030-01-01 00:00:00 UTC
      Judged with  Touchstone 0.1.0
                   seed 1234
      Record       runs/one

      Every rule
        Rules                     passed  observed  cases
        ✓ Authorize                    9         2    210
        ✓ Authorization code           8         1    188
        ✓ Token exchange               9         1    226
        ✓ Token refresh               11         1    276
        ✓ Access token                 3               75
        ✓ Notifications               12         6    306
        ✓ Webhook push                13         6    320
        ✓ The service as a whole       3         1     76

      Lifetimes
        Measured lifetimes
        Each credential was probed once, at ages on both sides of its promised end. Its true lifetime lies
        between the two ages. An end that is off by up to the resolution would not be detected.
        Rule           Of what  Promised  Accepted up to  Refused from  Resolution
        code.lifetime  3 kinds    10 min   9 min 59.44 s  10 min 0.5 s      560 ms

      Readings that fit the evidence
        Rule                    Readings
        authorize.state-length  bytes-after-decoding: the 128 bytes are counted after percent-decoding
        push.schedule           R1: the first at once, delays between pushes, five in all; with the
                                document's delays at 0, 30, 90, 210 and 450 s

      Pushes
        The retry schedule
        Pushes of one notification that was never acknowledged, in seconds after its event
        (push.schedule). A reading fits if every push lies in a window; a window is as wide as a push may
        be late.
        Push  Came after  R1 (fits)  R2
           1           0          0   0
           2    29 to 30         30  30

        Delays count from the failure of a push.

      Observed where the document is silent
        18 observations; --verbose and reports show the values.

      Not selected, or not testable
        5 statements of the document cannot be tested from outside (\`touchstone rules\` says why).

      ✓ Every required rule ran and held.
      68 passed, 18 observed; 1,677 cases in 6.3 s. Exit code 0.
      "
    `);
  });

  it("lists lifetimes in lines if their table does not fit", () => {
    const long = resultOf("refresh.lifetime-is-from-issue", lifetime.verdict);
    const text = render(recordOf({ rules: [long] }), 60);
    expect(text).toMatch(/Of what +3 kinds\n +Promised +10 min\n +Accepted up to +9 min/);
    expect(text).not.toMatch(/Promised +Accepted/);
  });

  it("lists counts in lines if the table of groups does not fit", () => {
    const kinds: readonly Verdict[] = [
      { kind: "passed", cases: 1 },
      { kind: "observed", cases: 1, fingerprint: "1" },
      { kind: "pending", due: "2030-02-01", reason: "issued in this run" },
      { kind: "could-not-run", missing: "clock.advance", reason: "it waits for 30 d" },
      { kind: "inconclusive", reason: "no case was judged", settle: "a further run", cases: 0 },
      { kind: "harness-error", message: "it broke" },
    ];
    const rules = kinds.map((verdict) => resultOf("code.unknown", verdict));
    const text = render(recordOf({ rules }), 60);
    expect(text.slice(text.indexOf("# Authorization"), text.indexOf("Observed where")))
      .toMatchInlineSnapshot(`
        "# Authorization code
            harness error  1
            inconclusive   1
            could not run  1
            pending        1
            passed         1
            observed       1
            cases          2

        "
      `);
  });

  it("shows breaches in full before the overview", () => {
    const verdict = { kind: "failed", cases: 3, breach: breachOf("refused", "granted") } as const;
    const rules = withResults(resultOf("code.single-use", verdict, [exchanged(1)]));
    const text = render(failedRecord(rules));
    expect(text.indexOf("Broken promises (1)")).toBeLessThan(text.indexOf("✗ Authorization code"));
    expect(text).toContain("#1  POST /open-api/oauth/access-token");
    expect(text).toContain("✗ Authorization code");
    expect(text).not.toContain("✓ code.unknown");
  });

  it("omits sections that a record without rules cannot fill", () => {
    expect(render(recordOf({ rules: [] }))).not.toMatch(/lifetimes|Readings|observation/i);
  });
});

/** A rule whose control got an answer without tokens. */
const blind = (id: RuleResult["id"], n: number): RuleResult =>
  ruleThat.stayedOpen(
    id,
    `${n} of ${n} cases could not be decided: a valid exchange got no tokens: status 200, body {"at":17${n}}`,
    "that this request succeeds, because what is judged rests on it",
  );
const broke = (id: RuleResult["id"], actual: string): RuleResult =>
  ruleThat.failed(id, "it succeeds", actual);

describe("an answer that explains most of the rules that could not be judged", () => {
  const others = [blind("code.lifetime", 4), blind("code.unknown", 10), blind("refresh.lifetime", 6)];
  const unrelated = broke("authorize.echoes-state", "it got state x");
  const shown = broke("exchange.token-set", 'it got status 200, body {"at":1699}');

  it("is named first, with the breach that quotes it, which is listed first", () => {
    const text = render(failedRecord([unrelated, shown, ...others]));
    expect(text.slice(text.indexOf("Start here"), text.indexOf("Broken promises"))).toMatchInlineSnapshot(`
      "Start here
        3 rules could not be judged because a request that had to succeed failed: a valid exchange got no
        tokens: status 200, body {"at":174}. The same answer is in the breach of exchange.token-set.

      "
    `);
    expect(text.indexOf("✗ exchange.token-set")).toBeLessThan(text.indexOf("✗ authorize.echoes-state"));
    expect(text.slice(text.indexOf("Rules that could not be judged"), text.indexOf("Every rule")))
      .toMatchInlineSnapshot(`
        "Rules that could not be judged
          ? inconclusive
            Rules   code.lifetime, code.unknown, refresh.lifetime
            Why     a valid exchange got no tokens: status 200, body {"at":174}
            Needed  that this request succeeds, because what is judged rests on it

        "
      `);
  });

  it("is not named if no breach quotes it, or if few rules are affected", () => {
    const without = [unrelated, ...others];
    const few = [shown, ...others.slice(1)];
    for (const rules of [without, few, allPassed()])
      expect(render(recordOf({ rules }))).not.toContain("Start here");
  });
});

describe("a report with many broken promises", () => {
  const others = (["authorize.answers-with-code", "authorize.state-length", "code.unknown"] as const).map(
    (id) => broke(id, "no code that works"),
  );
  const of = (...rules: readonly RuleResult[]) => render(failedRecord(rules));

  it("names the step of the flow that is broken first", () => {
    const step = broke("exchange.access-token-works", "it does not open the list");
    const text = of(...others, step);
    expect(text).toContain("A step of the flow that most rules need is broken: exchange.access-token-works.");
    expect(text.indexOf("✗ exchange.access-token-works")).toBeLessThan(text.indexOf("✗ authorize"));
    expect(of(...others.slice(1), step)).not.toContain("Start here");
  });

  /** The same breach, seen again in so many of four replays. */
  const seenAgain = (failures: number, id: RuleResult["id"], counterexample?: string): RuleResult => {
    const replayed = { failures, attempts: 4 };
    const steps = counterexample === undefined ? {} : { counterexample };
    const breach = breachOf("it works", "no code that works", {
      reproduction: { seed: 7, ...steps, replayed },
    });
    return resultOf(id, { kind: "failed", cases: 9, breach });
  };

  it("names a few steps first, if each replay showed them again, but no broken step of the flow", () => {
    const lived = (failures: number) =>
      seenAgain(failures, "lifecycle.model", "authorize for client 2; try every token");
    const others = [
      seenAgain(3, "authorize.answers-with-code"),
      seenAgain(4, "authorize.state-length"),
      seenAgain(4, "code.unknown"),
    ];
    const said = "These steps break a promise: authorize for client 2; try every token (lifecycle.model).";
    const text = of(...others, lived(4));
    expect(text).toContain(said);
    expect(text.indexOf("✗ lifecycle.model")).toBeLessThan(text.indexOf("✗ authorize"));
    expect(of(...others, lived(3))).not.toContain(said);
    expect(of(...others.slice(1), lived(4))).not.toContain(said);
    expect(of(seenAgain(4, "authorize.answers-with-code"), ...others.slice(1), lived(4))).not.toContain(said);
  });

  it.each([
    [
      "notifications.versioned-path",
      "Nothing is served at a path of the document",
      "got status 404, no body",
    ],
    ["authorize.code-is-fresh", "Credentials are issued more than once", "two are equal"],
  ] as const)("names %s first if that explains a broken step of the flow", (id, what, actual) => {
    expect(of(...others, broke(id, actual))).toContain(`${what}: ${id}.`);
    expect(of(...others, seenAgain(3, id))).not.toContain(what);
  });

  it("lists breaches that quote the answer of the first, and puts those last that no replay showed again", () => {
    const text = of(
      seenAgain(0, "authorize.echoes-state"),
      broke("refresh.lifetime", 'a refresh got status 500, body {"at":1}'),
      broke("access.header", 'the token opens nothing, with status 400, body {"at":3}'),
      broke("exchange.token-set", 'it got status 500, body {"at":2}'),
    );
    expect(text).toContain("1 other breach quotes the same answer: refresh.lifetime.");
    const inOrder = ["exchange.token-set", "access.header", "refresh.lifetime", "authorize.echoes-state"];
    expect(inOrder.map((id) => text.indexOf(`✗ ${id}`))).toEqual(
      inOrder.map((id) => text.indexOf(`✗ ${id}`)).toSorted((a, b) => a - b),
    );
  });
});
