import { requirementIds } from "../../conformance/contract/catalogue.ts";
import type { Check } from "../../conformance/contract/check.ts";
import type { DetectReport } from "../../conformance/contract/detect.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { behavioursDoc, doctorDoc, replayDoc, ruleDoc, type ListedBehaviour } from "../document/commands.ts";
import { detectDoc } from "../document/detect.ts";
import { ledgerDoc, type LedgerRow } from "../document/ledger.ts";
import type { Doc } from "../document/model.ts";
import { breachOf, exchanged, resultOf, ruleThat } from "./fixture.ts";

export const checks: readonly Check[] = [
  { check: "base address", ok: true, message: "http://127.0.0.1:4000 answers" },
  {
    check: "clients[0]",
    ok: false,
    message: 'the exchange was refused: status 401, body {"error":"invalid\u001b[2Jclient"}',
    remedy: "set the right secret in CLIENT_A_SECRET",
    fatal: "configuration",
  },
  {
    check: "clients[1]",
    ok: "skipped",
    message: "no second client: rules that compare two clients will not run",
    remedy: "add a second entry to `clients`",
  },
];

export const behaviours: readonly ListedBehaviour[] = [
  { name: "sound", summary: "Keeps every promise of the document.", kind: "sound", breaks: [] },
  {
    name: "push-never",
    summary: "No push is ever sent.",
    kind: "defect",
    breaks: ["push.delivered", "push.schedule"],
  },
  { name: "code-reusable", summary: "A code works twice.", kind: "defect", breaks: ["code.single-use"] },
  { name: "polling", summary: "Looks for due pushes each second.", kind: "variant", breaks: [] },
];

export const detected: DetectReport = {
  effort: "quick",
  seed: 7,
  durationMs: 48_210,
  defects: {
    total: 3,
    killed: 3,
    survivors: [],
    kills: [
      { defect: "state-lower-cased", rule: "authorize.echoes-state", cases: 3 },
      { defect: "state-trimmed", rule: "authorize.echoes-state", cases: 1_204 },
      { defect: "code-reusable", rule: "code.single-use", cases: 1 },
    ],
  },
  variants: { total: 34, judged: 34, falseAlarms: [], unsettled: [] },
};

const passed: Readonly<Record<string, VerdictKind>> = Object.fromEntries(
  requirementIds.map((id) => [id, "passed"]),
);

const undetected: DetectReport = {
  ...detected,
  defects: {
    ...detected.defects,
    killed: 2,
    survivors: [{ name: "code-lives-a-second-longer", rule: "code.lifetime", verdict: "passed" }],
  },
  variants: {
    total: 34,
    judged: 34,
    falseAlarms: [
      {
        variant: "clock-skewed",
        rule: "access.lifetime",
        expected: "it works for 2 h",
        actual: "refused\u202e",
      },
    ],
    unsettled: [{ variant: "slow", rule: "refresh.reusable", verdict: "inconclusive", reason: "no answer" }],
  },
  matrix: [
    {
      defect: "state-trimmed",
      breaks: ["authorize.echoes-state", "authorize.state-charset"],
      verdicts: {
        ...passed,
        "authorize.answers-with-code": "inconclusive",
        "authorize.echoes-state": "failed",
        "authorize.state-length": "failed",
      },
    },
    { defect: "a-defect-that-nothing-sees", breaks: [], verdicts: passed },
  ],
};

const due: LedgerRow = {
  rule: "code.lifetime",
  subject: "code",
  side: "dead",
  target: "https://staging.example client-1",
  state: "waiting",
  lifetimeMs: 600_000,
  issuedAt: "2030-01-01T03:00:00.000Z",
  dueFrom: "2030-01-01T03:10:01.500Z",
  dueUntil: "2030-01-15T03:10:00.000Z",
};
const days = Array.from({ length: 9 }, (_, day) => `2030-01-0${day + 1}T03:00:00.000Z`);
const missed = {
  ...due,
  state: "missed",
  side: "alive",
  note: "no run happened while it was due",
} as const;

export const ledger: readonly LedgerRow[] = [
  due,
  { ...due, side: "alive", dueFrom: "2030-01-01T03:09:28.500Z", dueUntil: "2030-01-01T03:09:58.500Z" },
  ...days.map((issuedAt) => ({ ...missed, issuedAt })),
  { ...missed, note: "a run probed it, but ended before it recorded the answer" },
  ...days.map((issuedAt, day) => ({
    ...due,
    state: "judged" as const,
    held: true,
    issuedAt,
    note: `refused after ${day}`,
  })),
  { ...due, state: "judged", held: false, note: "accepted" },
];

const where = { run: "runs/one", program: "touchstone" };
const reused = breachOf("a used code is refused", "it gave an accessToken");

/** What commands print that write no run. */
export const commandDocuments: Readonly<Record<string, Doc>> = {
  rule: ruleDoc("authorize.state-length", [
    { name: "state-of-129-bytes-taken", summary: "A state of 129 bytes gets a code." },
    { name: "state-of-128-bytes-refused", summary: "The longest state that is allowed is refused." },
  ]),
  doctor: doctorDoc(checks),
  behaviours: behavioursDoc(behaviours),
  "replay of a breach": replayDoc(
    {
      answer: "still fails",
      result: resultOf("code.single-use", { kind: "failed", cases: 3, breach: reused }, [exchanged(4)]),
    },
    where,
  ),
  "replay of a rule that could not run": replayDoc(
    {
      answer: "could not run",
      result: ruleThat.couldNotRun("refresh.lifetime", "30 d are too long", "clock.advance"),
    },
    where,
  ),
  detection: detectDoc(detected),
  "detection with survivors and false alarms": detectDoc(undetected),
  ledger: ledgerDoc("ledger.db", ledger),
};
