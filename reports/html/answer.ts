import type { Outcome } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { elapsed, figure as number, plural } from "../text/figures.ts";
import { activeWaivers, failingWaivers } from "../text/waivers.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import type { GateView, LoadView, RunView } from "./gather/view.ts";
import type { Icon } from "./icons.ts";
import type { Tone } from "./mark.ts";
import { rate } from "../text/units.ts";

/** What a run came to, in the words that the page begins with. */
export interface Answer {
  readonly tone: Tone;
  readonly icon: Icon;
  /** One sentence: what matters most. */
  readonly headline: string;
  /** The counts behind it. */
  readonly detail: string;
  /** The greater, the more it matters. */
  readonly gravity: number;
}

const looks: Readonly<Record<Outcome | "cut off", Pick<Answer, "tone" | "icon" | "gravity">>> = {
  passed: { tone: "good", icon: "check", gravity: 0 },
  drifted: { tone: "warn", icon: "unequal", gravity: 1 },
  "cut off": { tone: "open", icon: "dots", gravity: 2 },
  interrupted: { tone: "open", icon: "dots", gravity: 2 },
  incomplete: { tone: "open", icon: "question", gravity: 3 },
  "harness-error": { tone: "bad", icon: "hash", gravity: 4 },
  failed: { tone: "bad", icon: "cross", gravity: 5 },
};

/** How an outcome looks; one that this version does not know, or none, as a run that was cut off. */
export const looksOf = (outcome = "cut off"): (typeof looks)["passed"] =>
  Object.entries(looks).find(([name]) => name === outcome)?.[1] ?? looks["cut off"];

export const answerOf = (view: RunView): Answer => {
  const outcome = view.record.outcome ?? "cut off";
  const look = looksOf(outcome);
  const detail = view.kind === "conform" ? gateDetail(view) : loadDetail(view);
  return {
    ...look,
    headline: view.kind === "conform" ? gateHeadline(view, outcome) : loadHeadline(view, outcome),
    detail: `${detail}${view.record.exitCode === undefined ? "" : ` Exit code ${view.record.exitCode}.`}`,
  };
};

const gateHeadline = ({ record }: GateView, outcome: Outcome | "cut off"): string => {
  const excused = activeWaivers(record);
  switch (outcome) {
    case "passed":
      return excused.size === 0
        ? "Every required rule ran and held."
        : `Every required rule ran and held, but for ${plural(excused.size, "waived breach", "waived breaches")}.`;
    case "failed":
      return failedHeadline(record);
    case "incomplete":
      return `Nothing broke, but ${plural(openRules(record).length, "rule")} could not be judged.`;
    case "drifted":
      return "Every required rule held, but a pinned observation changed.";
    case "harness-error":
      return "Touchstone itself failed; this says nothing about the service.";
    default:
      return "The run was cut off; this is what had been judged by then.";
  }
};

/** Breaches come first; then warnings of a strict run; then waivers that are out of date. */
const failedHeadline = (record: GateView["record"]): string => {
  const excused = activeWaivers(record);
  const count = (kind: string): number =>
    record.rules.filter(({ id, verdict }) => verdict.kind === kind && !excused.has(id)).length;
  if (count("failed") > 0) return `${plural(count("failed"), "promise is", "promises are")} broken.`;
  if (record.strict && count("warned") > 0)
    return `${plural(count("warned"), "advisory rule")} warned, and this run is strict.`;
  return `${plural(failingWaivers(record).length, "waiver is", "waivers are")} out of date.`;
};

/** Rules that leave it open whether a promise is kept. */
export const openRules = (record: GateView["record"]): readonly GateView["record"]["rules"][number][] =>
  record.rules.filter(
    ({ verdict }) =>
      ["pending", "could-not-run", "inconclusive"].includes(verdict.kind) ||
      (verdict.kind === "not-applicable" && verdict.by === "profile"),
  );

/** As in totals, but what passed before what was only observed. */
const inOrder = [...verdictOrder.filter((kind) => kind !== "observed"), "observed"] as const;

const gateDetail = ({ record }: GateView): string => {
  const counts = inOrder.flatMap((kind) => {
    const count = record.rules.filter(({ verdict }) => verdict.kind === kind).length;
    return count === 0 ? [] : [`${number(count)} ${wordOf(kind)}`];
  });
  const cases = record.rules.reduce((sum, { verdict }) => sum + casesOf(verdict), 0);
  return `${counts.join(", ") || "No rule was judged"}; ${plural(cases, "case")}${took(record)}.`;
};

const took = ({ startedAt, endedAt }: { readonly startedAt: string; readonly endedAt?: string }): string =>
  endedAt === undefined ? "" : ` in ${elapsed(Date.parse(endedAt) - Date.parse(startedAt))}`;

const loadHeadline = ({ record }: LoadView, outcome: Outcome | "cut off"): string => {
  const broken = record.rules.filter(({ breaches }) => breaches > 0).length;
  const missed = record.objectives.filter(({ verdict }) => verdict === "breached").length;
  switch (outcome) {
    case "passed":
      return record.objectives.length > 0
        ? "Promises and objectives held under load."
        : "Promises held under load.";
    case "failed":
      return [
        ...(broken > 0 ? [`${plural(broken, "promise")} broke under load`] : []),
        ...(missed > 0 ? [`${plural(missed, "objective was", "objectives were")} missed`] : []),
      ]
        .join(", and ")
        .concat(broken + missed === 0 ? "The load run failed." : ".");
    case "incomplete":
      return "The load run is not valid: its figures say nothing.";
    case "harness-error":
      return "Touchstone itself failed under load; this says nothing about the service.";
    default:
      return "The load run was cut off; this is what was measured by then.";
  }
};

const loadDetail = ({ record }: LoadView): string => {
  const { achieved } = record;
  const looks = record.rules.reduce((sum, { checks }) => sum + checks, 0);
  const requests =
    achieved === undefined
      ? "Nothing was achieved"
      : `${plural(achieved.requests, "request")} at ${rate(achieved.requestsPerSecond)} a second, ${rate(record.rate)} asked for at the peak`;
  return `${requests}; ${plural(looks, "look")} at ${plural(record.rules.length, "rule")}${took(record)}.`;
};
