import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import type { Outcome } from "../../conformance/contract/record.ts";
import type { Icon, Look } from "./model.ts";

export const lookOf: Readonly<Record<VerdictKind, Look>> = {
  passed: ["good", "check"],
  failed: ["bad", "cross"],
  warned: ["warn", "alert"],
  observed: ["seen", "ring"],
  pending: ["open", "dots"],
  "not-applicable": ["none", "dash"],
  "could-not-run": ["open", "slash"],
  inconclusive: ["open", "question"],
  "harness-error": ["bad", "hash"],
};

const outcomeLooks: Readonly<Record<Outcome, Look>> = {
  passed: ["good", "check"],
  drifted: ["warn", "unequal"],
  interrupted: ["open", "dots"],
  incomplete: ["open", "question"],
  "harness-error": ["bad", "hash"],
  failed: ["bad", "cross"],
};

/** How an outcome looks; undefined is a run that was cut off. */
export const outcomeLook = (outcome: Outcome = "interrupted"): Look => outcomeLooks[outcome];

export const symbolOfIcon: Readonly<Record<Icon, string>> = {
  check: "✓",
  cross: "✗",
  alert: "!",
  ring: "○",
  dots: "…",
  dash: "–",
  slash: "–",
  question: "?",
  hash: "#",
  unequal: "≠",
};
