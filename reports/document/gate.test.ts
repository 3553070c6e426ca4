import { describe, expect, it } from "vitest";
import { allPassed, breachOf, recordOf, resultOf, ruleThat, withResults } from "../testing/fixture.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { headlineOf } from "./answer.ts";
import { broken, failedRecord, gates } from "../testing/gates.ts";
import { onTerminal, renderMarkdown } from "../testing/shown.ts";
import { gateDoc, type GateSubject } from "./gate.ts";
import type { GateOptions } from "./run.ts";

const render = (record: RunRecord, some: Partial<GateOptions & GateSubject> = {}, columns?: number): string =>
  onTerminal(gateDoc({ record, directory: "runs/one", ...some }, some), columns);

const waiver = { id: "code.single-use", reason: "known", owner: "a team", expires: "2030-02-01" } as const;
const open = ruleThat.couldNotRun("refresh.lifetime", "it would take 30 days");
const advisory = ruleThat.passed("exchange.no-store", 1);
const changed = ruleThat.observed("authorize.redirect", '{"status":200}');
const drift = {
  outcome: "drifted",
  exitCode: 6,
  pinned: { "authorize.redirect": '{"status":302}' },
} as const;
const excused = { waivers: [{ ...waiver, state: "active" as const }] };
const isOpen = { outcome: "incomplete", exitCode: 3 } as const;

describe("the headline of a gate", () => {
  it.each<[string, readonly RuleResult[], Partial<RunRecord>?]>([
    ["Every required rule ran and held.", withResults()],
    ["Every selected required rule ran and held.", [ruleThat.passed("code.unknown", 1), advisory]],
    ["Every selected rule ran, none of which is required.", [advisory]],
    [
      "Every selected rule ran, none of which is required, and 1 warned.",
      [ruleThat.warned("exchange.no-store", "no-store", "nothing")],
    ],
    ["Every required rule ran and held, but a pinned observation changed.", withResults(changed), drift],
    [
      "Every required rule ran and held, except for 1 waived breach, but a pinned observation changed.",
      withResults(broken(), changed),
      { ...drift, ...excused },
    ],
    [
      "Nothing broke, except for 1 waived breach, but 1 rule could not be judged.",
      withResults(broken(), open),
      { ...isOpen, ...excused },
    ],
    ["Nothing broke, but 1 rule could not be judged.", withResults(open), isOpen],
    [
      "1 waiver is out of date.",
      withResults(),
      { outcome: "failed", exitCode: 1, waivers: [{ ...waiver, state: "stale" }] },
    ],
  ])("claims no more than the selected rules show: %s", (headline, rules, more) => {
    expect(headlineOf(recordOf({ rules, ...more }))).toBe(headline);
  });
});

describe("the report of a gate", () => {
  it("omits sections that a record without rules cannot fill", () => {
    expect(render(recordOf({ rules: [] }))).not.toMatch(/lifetimes|Readings|observation|Every rule\n/i);
  });

  it("shows only failures and totals if quiet", () => {
    const text = render(gates.red, { detail: "failures" });
    expect(text).toContain("✗ code.single-use");
    expect(text).not.toMatch(/authorize\.echoes-state|Observed/);
    expect(text).toContain("✗ 4 promises are broken.");
  });

  it("quotes a run directory for the shell", () => {
    expect(render(gates.red, { directory: "my runs/a", program: "npx touchstone" })).toContain(
      "npx touchstone replay 'my runs/a' code.single-use",
    );
  });

  it("says nothing of what is left on the embedded fake, which ends with the run", () => {
    const { leftBehind } = gates["with measurements and a changed pin"];
    const record = recordOf({ ...(leftBehind && { leftBehind }) });
    const view = { kind: "conform", directory: "runs/one", record } as const;
    for (const text of [render(record, { detail: "full" }), renderMarkdown([view])])
      expect(text).not.toMatch(/Left on the target|refresh tokens? of/);
  });
});

describe("where to start in a report", () => {
  const broke = (id: RuleResult["id"], actual = "no code that works"): RuleResult =>
    ruleThat.failed(id, "it succeeds", actual);
  /** The same breach, seen again in so many of four replays. */
  const seenAgain = (failures: number, id: RuleResult["id"], counterexample?: string): RuleResult => {
    const reproduction = {
      seed: 7,
      replayed: { failures, attempts: 4 },
      ...(counterexample !== undefined && { counterexample }),
    };
    const breach = breachOf("it works", "no code that works", { reproduction });
    return resultOf(id, { kind: "failed", cases: 9, breach });
  };
  const of = (...rules: readonly RuleResult[]) => render(failedRecord(rules));
  const several = (["authorize.answers-with-code", "authorize.state-length", "code.unknown"] as const).map(
    (id) => broke(id),
  );

  it("is no answer that no breach quotes, or that affects few rules", () => {
    const [unrelated, quoting, ...blind] = gates["red with the answer that explains it"].rules;
    const few = [quoting, ...blind.slice(1)].filter((rule) => rule !== undefined);
    for (const rules of [[unrelated, ...blind].filter((rule) => rule !== undefined), few, allPassed()])
      expect(of(...rules)).not.toContain("Start here");
  });

  it("is no step of the flow if few promises are broken", () => {
    expect(of(...several.slice(1), broke("exchange.access-token-works"))).not.toContain("Start here");
  });

  it("is a few steps, if each replay showed them again, but no broken step of the flow", () => {
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
  ] as const)("is %s if that explains a broken step of the flow", (id, what, actual) => {
    expect(of(...several, broke(id, actual))).toContain(`${what}: ${id}.`);
    expect(of(...several, seenAgain(3, id))).not.toContain(what);
  });

  it("puts breaches last that quote the answer of the first, and after them those that no replay showed again", () => {
    const text = of(
      seenAgain(0, "authorize.echoes-state"),
      broke("refresh.lifetime", 'a refresh got status 500, body {"at":1}'),
      broke("access.header", 'the token opens nothing, with status 400, body {"at":3}'),
      broke("exchange.token-set", 'it got status 500, body {"at":2}'),
    );
    const inOrder = [...text.matchAll(/✗ (\S+) {2}required/g)].map(([, id]) => id);
    expect(inOrder).toEqual([
      "exchange.token-set",
      "access.header",
      "refresh.lifetime",
      "authorize.echoes-state",
    ]);
  });
});
