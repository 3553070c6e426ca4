import { duration } from "../../conformance/contract/duration.ts";
import type {
  BreakpointStep,
  EndpointRow,
  LoadBreach,
  LoadRecord,
  ObjectiveResult,
} from "../../conformance/contract/load-record.ts";
import { exitCodeMeanings } from "../../conformance/contract/record.ts";
import { figure, plural } from "../text/figures.ts";
import { latency, percent } from "../text/latency.ts";
import { flow, fold, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page } from "./palette.ts";
import { definitions, table } from "./table.ts";
import { section } from "./totals.ts";

/** A load run: what it came to, by endpoint, objective and rule. */
export const renderLoad = (record: LoadRecord, options: Page & { readonly run: string }): string => {
  const page = fitted(options);
  const lines = [
    ...headingLines(record, page),
    ...section("Answers", [endpointTable(record.endpoints, page)].filter(filled), page),
    ...section("Objectives", [record.objectives.map((one) => objectiveLine(one, page))].filter(filled), page),
    ...section("Rules under load", [ruleLines(record, page)].filter(filled), page),
    ...section(
      "Breaches",
      record.breaches.map((breach) => breachLines(breach, page)),
      page,
    ),
    ...section("Pushes", [pushLines(record)].filter(filled), page),
    ...section("Steps", [(record.steps ?? []).map((step) => stepLine(step, page))].filter(filled), page),
    ...section("This run says nothing of speed", [validityLines(record, page)].filter(filled), page),
    ...totalLines(record, page, options.run),
  ];
  return `${lines.join("\n")}\n`;
};

const filled = (lines: readonly string[]): boolean => lines.length > 0;

const headingLines = (record: LoadRecord, { palette, columns }: Page): string[] => {
  const { target } = record;
  const how = [
    `Touchstone ${record.tool}`,
    `k6 ${record.k6.version}`,
    `seed ${record.seed}`,
    ...(target.behaviour === undefined ? [] : [`behaviour ${target.behaviour}`]),
  ];
  const asked = `${record.scenario}, ${record.shape}, ${figure(record.rate)} requests/s for ${duration(record.durationMs)}${record.warmUpMs > 0 ? `, the first ${duration(record.warmUpMs)} not counted` : ""}`;
  return [
    ...(record.replacedLimits.length === 0
      ? []
      : [
          palette.yellow(`Judged by limits that are not the document's: ${record.replacedLimits.join(", ")}`),
          "",
        ]),
    ...flow([palette.bold(safe(target.name)), safe(target.baseUrl)], "  ", columns),
    asked,
    ...flow(how.map(safe), " · ", columns).map(palette.dim),
    ...record.notes.flatMap((note) => wrap(safe(note), columns)),
  ];
};

const right = { align: "right" } as const;

const endpointTable = (rows: readonly EndpointRow[], { palette }: Page): string[] =>
  rows.length === 0
    ? []
    : table(
        [
          ["endpoint", "outcome", "requests", "p50", "p95", "p99", "max", "p99 of the service alone"].map(
            palette.dim,
          ),
          ...rows.map(({ endpoint, outcome, response, service }) => [
            safe(endpoint),
            outcome === "failed" ? palette.red(outcome) : outcome,
            figure(response.count),
            ...[response.p50Ms, response.p95Ms, response.p99Ms, response.maxMs, service.p99Ms].map(latency),
          ]),
        ],
        [{}, {}, right, right, right, right, right, right],
      );

const amount = (value: number, unit: ObjectiveResult["unit"]): string => {
  if (unit === "ms") return latency(value);
  return unit === "share" ? percent(value) : `${value.toFixed(1)} a second`;
};

const objectiveLine = (objective: ObjectiveResult, { palette }: Page): string => {
  const { name, limit, unit, bound, measured, interval, verdict, reason } = objective;
  const mark = { held: palette.green("✓"), breached: palette.red("✗"), "not measured": palette.yellow("?") }[
    verdict
  ];
  const between =
    interval === undefined
      ? ""
      : palette.dim(`  (${amount(interval[0], unit)} to ${amount(interval[1], unit)})`);
  const got = measured === undefined ? (reason ?? "not measured") : `${amount(measured, unit)}${between}`;
  return `${mark} ${safe(name)} ${bound} ${amount(limit, unit)}: ${got}`;
};

const ruleLines = ({ rules }: LoadRecord, { palette, columns }: Page): string[] =>
  rules.flatMap(({ id, checks, breaches, note }) => {
    const mark = breaches > 0 ? palette.red("✗") : checks > 0 ? palette.green("✓") : palette.yellow("?");
    const broken = breaches > 0 ? `, ${palette.red(`broken ${figure(breaches)} times`)}` : "";
    return [
      `${mark} ${id}  ${palette.dim(plural(checks, "look"))}${broken}`,
      ...(note === undefined ? [] : indent(wrap(safe(note), columns - 6), 4).map(palette.dim)),
    ];
  });

const breachLines = (breach: LoadBreach, { palette, columns }: Page): string[] => [
  `${palette.red("✗")} ${palette.bold(breach.rule)}  ${palette.dim(`at ${(breach.atMs / 1_000).toFixed(2)} s, ${figure(Math.round(breach.askedRate))} arrivals/s`)}`,
  ...indent(
    definitions([
      [palette.dim("expected"), wrap(safe(breach.expected), columns - 14)],
      [palette.dim("actual"), wrap(safe(breach.actual), columns - 14)],
      [
        palette.dim("history"),
        breach.exchanges.flatMap((exchange) => [
          ...fold(
            safe(
              `${exchange.method} ${exchange.path}${exchange.requestBody === undefined ? "" : ` ${exchange.requestBody}`}`,
            ),
            columns - 16,
            3,
          ),
          ...indent(
            fold(
              safe(`→ ${exchange.status === 0 ? "" : `${exchange.status} `}${exchange.answer}`),
              columns - 18,
              3,
            ),
            2,
          ),
        ]),
      ],
    ]),
    2,
  ),
];

const pushLines = ({ pushes }: LoadRecord): string[] => {
  if (pushes === undefined) return [];
  const attempts = Object.entries(pushes.attempts).map(
    ([times, count]) => `${figure(count)} pushed ${times === "1" ? "once" : `${times} times`}`,
  );
  const delay = pushes.deliveryDelay;
  return [
    `${plural(pushes.events, "event")}, ${plural(pushes.pushes, "push", "pushes")}, ${figure(pushes.acknowledged)} acknowledged`,
    ...(attempts.length === 0 ? [] : [attempts.join(" · ")]),
    ...(delay === undefined || delay.count === 0
      ? []
      : [
          `from event to first push: p50 ${latency(delay.p50Ms)}, p95 ${latency(delay.p95Ms)}, p99 ${latency(delay.p99Ms)}, at most ${latency(delay.maxMs)}`,
        ]),
  ];
};

const stepLine = (step: BreakpointStep, { palette }: Page): string => {
  const mark = { held: palette.green("✓"), "gave way": palette.red("✗"), spoilt: palette.yellow("?") }[
    step.verdict
  ];
  const why = [step.gaveWay, step.reason].filter((text) => text !== undefined).join(": ");
  return `${mark} ${figure(Math.round(step.rate))} requests/s (achieved ${figure(Math.round(step.achieved))}) ${step.verdict}${why === "" ? "" : `, ${safe(why)}`}`;
};

const validityLines = ({ validity }: LoadRecord, { columns }: Page): string[] =>
  validity === undefined || validity.valid
    ? []
    : validity.reasons.flatMap(({ reason, remedy }) => [
        ...wrap(safe(reason), columns - 4),
        ...indent(wrap(safe(remedy), columns - 6), 2),
      ]);

const totalLines = (record: LoadRecord, { palette, columns }: Page, run: string): string[] => {
  const { achieved } = record;
  const machine =
    achieved === undefined
      ? []
      : [
          `k6 used ${(achieved.k6Cores ?? 0).toFixed(2)} cores and ${Math.round(achieved.k6MemoryMiB ?? 0)} MiB, the collector ${(achieved.collectorCores ?? 0).toFixed(2)} cores; ${percent(achieved.machineIdle ?? 0)} of the machine was idle`,
        ];
  const rate =
    achieved === undefined
      ? ["nothing was sent"]
      : [
          `${figure(achieved.requests)} requests, ${achieved.requestsPerSecond.toFixed(1)} a second; ${figure(achieved.arrivals)} of ${figure(Math.round(achieved.arrivalsAsked))} iterations, ${figure(achieved.dropped)} dropped`,
        ];
  return [
    "",
    ...definitions(
      (
        [
          ["Load", rate],
          ...(record.highestRate === undefined
            ? []
            : [
                [
                  "Highest",
                  [`${figure(Math.round(record.highestRate))} requests/s with all objectives held`],
                ] as const,
              ]),
          ["Machine", machine],
          ["Record", [safe(run)]],
          ["Outcome", outcomeLines(record, palette, columns)],
        ] as const
      ).map(([label, lines]) => [palette.bold(label), [...lines]] as const),
    ),
  ];
};

const outcomeLines = (record: LoadRecord, palette: Page["palette"], columns: number): string[] => {
  const { outcome, exitCode, stopped } = record;
  if (outcome === undefined || exitCode === undefined)
    return [palette.yellow("the run was cut off; this is what had been measured by then")];
  const why = stopped === undefined ? "" : ` ${stopped};`;
  const paint = outcome === "passed" ? palette.green : outcome === "failed" ? palette.red : palette.yellow;
  return wrap(`${outcome}:${why} ${meaningOf(record)} (exit code ${exitCode})`, columns - 10).map(paint);
};

/** What a load run's outcome means: the general words of exit codes speak of the gate. */
const meaningOf = (record: LoadRecord): string => {
  const broken = record.rules.filter(({ breaches }) => breaches > 0).length;
  const missed = record.objectives.filter(({ verdict }) => verdict === "breached").length;
  if (record.outcome === "passed") return "every objective held, and no rule was broken";
  if (record.outcome === "failed")
    return [
      ...(broken > 0 ? [`${plural(broken, "rule was", "rules were")} broken`] : []),
      ...(missed > 0 ? [`${plural(missed, "objective was", "objectives were")} missed`] : []),
      ...(broken + missed === 0 ? ["the service gave way"] : []),
    ].join(", ");
  if (record.validity?.valid === false) return "the load was not the one that was asked for";
  return exitCodeMeanings[record.exitCode ?? 5] ?? "";
};
