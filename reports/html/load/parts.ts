import type { VNode } from "preact";
import type { LoadBreach } from "../../../conformance/contract/load-record.ts";
import { knownRequirement } from "../../terminal/titles.ts";
import { elapsed, figure as number, plural } from "../../text/figures.ts";
import { el, type Child } from "../element.ts";
import { evidence } from "../exchanges.ts";
import type { Part } from "../part.ts";
import type { LoadView } from "../gather/view.ts";
import { mark } from "../mark.ts";
import { facts } from "../parts.ts";
import type { Place } from "../rule-card.ts";
import { latency, percent } from "../../text/latency.ts";
import { rate } from "../../text/units.ts";
import { distributionFigure } from "./distribution.ts";
import { latencyFigures } from "./latency.ts";
import { objectives } from "./objectives.ts";
import { rateFigure } from "./rate.ts";
import { searchContent } from "./steps.ts";
import { endpointTable, loadPushes, ruleTable } from "./tables.ts";

/** The parts of the page that tell of a load run. Parts with nothing to tell are left out. */
export const loadParts = (view: LoadView, { prefix }: Place): readonly Part[] => {
  const { record, course } = view;
  const part = (id: string, title: string, ...content: readonly Child[]): Part => ({
    id: `${prefix}${id}`,
    title,
    content,
  });
  const objective = objectives(record);
  const rules = ruleTable(record);
  const broken = breaches(view);
  const validity = invalid(view);
  const steps = searchContent(record);
  return [
    ...(validity.length === 0 ? [] : [part("validity", "Why these figures cannot be trusted", validity)]),
    ...(broken.length === 0 ? [] : [part("broken", "What broke under load", broken)]),
    ...(objective === undefined ? [] : [part("objectives", "Objectives", objective)]),
    ...(steps.length === 0 ? [] : [part("search", "The search for the highest rate", steps)]),
    part(
      "course",
      "The load over time",
      record.stopped !== undefined &&
        el("p", { class: "note" }, `The load ended before its time: ${record.stopped}`),
      course.buckets.length > 0 && rateFigure(view),
      ...latencyFigures(view),
      course.late > 0 &&
        el(
          "p",
          { class: "soft" },
          `${plural(course.late, "histogram")} came late: the distributions below hold them, the lines over time do not.`,
        ),
    ),
    part(
      "latency",
      "Latencies",
      steps.length > 0 &&
        el(
          "p",
          { class: "soft" },
          "Of the step whose figures this record shows: the best one, or the one that broke a rule.",
        ),
      distributionFigure(view),
      endpointTable(record),
    ),
    ...(rules === undefined ? [] : [part("promises", "Promises under load", rules)]),
    ...(record.pushes === undefined ? [] : [part("pushes", "Pushes under load", loadPushes(record))]),
    part("environment", "How it was loaded", environment(view)),
  ];
};

const invalid = ({ record }: LoadView): readonly Child[] =>
  record.validity === undefined || record.validity.valid
    ? []
    : record.validity.reasons.map(({ reason, remedy }) =>
        el(
          "article",
          { class: "cause" },
          el("header", {}, mark("inconclusive"), el("h4", {}, reason)),
          el("p", {}, remedy),
        ),
      );

const breaches = ({ breaches, record }: LoadView): readonly Child[] => {
  const shown = breaches.shown.length > 0 ? breaches.shown : record.breaches;
  const total = record.rules.reduce((sum, rule) => sum + rule.breaches, 0);
  const all = Math.max(total, breaches.count, shown.length);
  return [
    ...shown.map(breach),
    ...(shown.length < all
      ? [
          el(
            "p",
            { class: "soft" },
            `${number(shown.length)} of ${plural(all, "breach", "breaches")} are shown here; breaches.jsonl has those that were kept.`,
          ),
        ]
      : []),
  ];
};

const breach = ({ rule, atMs, expected, actual, askedRate, exchanges }: LoadBreach): VNode =>
  el(
    "article",
    { class: "breach failed" },
    el(
      "header",
      {},
      mark("failed"),
      el("h4", {}, el("code", {}, rule)),
      el("span", { class: "soft" }, `after ${elapsed(atMs)}, at ${rate(askedRate)} arrivals a second`),
    ),
    el("p", { class: "promise" }, knownRequirement(rule)?.sentence ?? ""),
    facts(
      [
        ["Expected", expected],
        ["Seen", el("strong", {}, actual)],
      ],
      "about",
    ),
    ...evidence({
      count: exchanges.length,
      shown: exchanges.map(({ method, path, requestBody, status, answer, durationMs }, at) => ({
        n: at + 1,
        rule,
        startedMs: atMs,
        durationMs,
        request: { method, path, headers: [], ...(requestBody === undefined ? {} : { body: requestBody }) },
        ...(status === 0
          ? { error: answer === "" ? "no answer" : answer }
          : { answer: { status, headers: [], text: answer } }),
      })),
    }),
  );

const environment = ({ record, run }: LoadView): VNode => {
  const { achieved, machine, k6 } = record;
  return facts([
    ["Scenario", record.scenario],
    [
      "Shape",
      `${record.shape}, ${elapsed(record.durationMs)}, the first ${elapsed(record.warmUpMs)} to warm up`,
    ],
    ["Asked for", `${rate(record.rate)} requests a second, ${rate(record.arrivalRate)} iterations`],
    ["Virtual users", `at most ${number(record.virtualUsers)}`],
    achieved === undefined
      ? undefined
      : [
          "Arrivals",
          `${number(achieved.arrivals)} of ${number(Math.round(achieved.arrivalsAsked))}, ${number(achieved.dropped)} dropped`,
        ],
    achieved?.lag === undefined
      ? undefined
      : [
          "Iterations began late by",
          `${latency(achieved.lag.p50Ms)} in the median, ${latency(achieved.lag.p99Ms)} at p99`,
        ],
    [
      "k6",
      [
        `${k6.version}, ${k6.from}`,
        k6.exitMeaning !== undefined &&
          el("div", { class: "soft" }, `${k6.exitMeaning} (exit code ${k6.exitCode ?? "none"})`),
      ],
    ],
    achieved?.k6Cores === undefined
      ? undefined
      : [
          "k6 used",
          `${achieved.k6Cores.toFixed(2)} cores, ${number(Math.round(achieved.k6MemoryMiB ?? 0))} MiB`,
        ],
    achieved?.machineIdle === undefined
      ? undefined
      : ["Idle share of the machine", percent(achieved.machineIdle)],
    [
      "Machine",
      `${plural(machine.cores, "core")}, ${machine.processor}, ${number(Math.round(machine.memoryMiB))} MiB, ${machine.platform}, Node ${machine.node}`,
    ],
    ["Seed", el("code", {}, String(record.seed))],
    [
      "Comparable with runs of the same",
      Object.entries(record.fingerprint)
        .map(([name, value]) => `${name} ${value}`)
        .join(" · "),
    ],
    ["Record", el("code", { class: "wrap" }, run)],
  ]);
};
