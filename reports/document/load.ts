import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { plural, figure as number, latency, percent, rate } from "../text/figures.ts";
import { rampAnswer } from "../../conformance/contract/load-cases.ts";
import { headlineOf } from "./answer.ts";
import { objectivesFigure } from "./load-objectives.ts";
import type { LoadView } from "../gather/gather.ts";
import { causesTable, courseBlocks, spreadFigure } from "./load-course.ts";
import {
  breachBlocks,
  breachFinder,
  invalid,
  rampBlocks,
  endpointTable,
  environment,
  pushBlocks,
  rulesTable,
} from "./load-tables.ts";
import {
  code,
  doc,
  facts,
  given,
  note,
  section,
  lines,
  mark,
  soft,
  table,
  text,
  type Block,
  type Doc,
  type Table,
} from "./model.ts";
import { limitsCallout, runLook, targetFacts, took, type LoadOptions } from "./run.ts";
import type { ClockReading, Merged, MergedMachine } from "../../conformance/contract/segments.ts";

export const loadDoc = (
  subject: Omit<LoadView, "kind">,
  { prefix = "", detail = "full" }: Partial<LoadOptions> = {},
): Doc => {
  const { record, directory, course } = subject;
  return doc({
    prefix,
    title: `${record.target.name}: ${answerOf(record)}`,
    look: runLook(record),
    headline: answerOf(record),
    detail: detailOf(record),
    before: [limitsCallout(record)],
    about: [...targetFacts(record), ["Record", code(directory)]],
    after: record.notes.map((one) => note(one)),
    sections: [
      section("validity", "Why these figures cannot be trusted", ...invalid(record)),
      section("broken", "What broke under load", ...breachBlocks(subject, prefix)),
      section("objectives", "Objectives", ...rampBlocks(record), objectivesFigure(record)),
      section("failures", "Failed requests", causesTable(record, course)),
      section(
        "course",
        "The load over time",
        record.stopped !== undefined && note(`The load ended early: ${record.stopped}`),
        ...(course === undefined ? [] : courseBlocks(course, record, breachFinder(subject, prefix))),
      ),
      section("latency", "Latencies", course !== undefined && spreadFigure(course), endpointTable(record)),
      section("promises", "Promises under load", rulesTable(record, detail)),
      section("pushes", "Pushes under load", ...pushBlocks(record)),
      section("machines", "Machines", ...machineBlocks(record)),
      section("environment", "How the load was generated", detail === "full" && facts(environment(record))),
    ],
    source: directory,
  });
};

/** A segment that ran to its end is judged by the merge. */
const answerOf = (record: LoadRecord): string => {
  const { segment, state, outcome } = record;
  return segment !== undefined && state === "sealed" && outcome === undefined
    ? `Segment ${segment.index} of ${segment.count} ran to its end. \`merge\` judges the run.`
    : headlineOf(record);
};

const detailOf = (record: LoadRecord): string => {
  const { achieved, rules, stopped, exitCode, breakpoint } = record;
  const answer = rampAnswer(record);
  const checks = rules.reduce((sum, one) => sum + one.checks, 0);
  const checked = rules.filter((one) => one.checks > 0);
  const requests =
    achieved === undefined
      ? "No requests were sent"
      : `${plural(achieved.requests, "request")} at ${rate(achieved.requestsPerSecond)} per second, ${rate(breakpoint?.endedAt ?? record.rate)} requested at the peak`;
  return given([
    // What a run checked is counted at its end.
    record.state === "open"
      ? `${requests}.`
      : `${requests}; ${plural(checks, "check")} of ${plural(checked.length, "rule")}${took(record)}.`,
    answer !== undefined && answerOf(record) !== answer && answer,
    stopped !== undefined && !answerOf(record).includes(stopped) && `It ended early: ${stopped}.`,
    exitCode !== undefined && `Exit code ${exitCode}.`,
  ]).join(" ");
};

const machineBlocks = ({ merged, segment }: LoadRecord): readonly (Block | undefined)[] => {
  if (merged !== undefined) return [summary(merged), machinesTable(merged)];
  if (segment === undefined) return [];
  const { index, count, runId, host, startAt, setUpMs, clock } = segment;
  return [
    facts([
      ["Segment", `${index} of ${count}`],
      ["Run", code(runId)],
      ["Host", host],
      ["Start", startAt],
      setUpMs !== undefined && ["Set-up", `took ${latency(setUpMs)}`],
      [
        "The target’s clock minus this one",
        lines(`before the load ${offset(clock.before)}`, `after the load ${offset(clock.after)}`),
      ],
    ]),
  ];
};

const offset = (reading: ClockReading | undefined): string =>
  reading?.offsetMs === undefined
    ? `unknown: ${reading?.unknown ?? "not read"}`
    : signed(reading.offsetMs, reading.errorMs);

const signed = (ms: number, errorMs = 0): string => {
  const whole = Math.round(ms);
  const sign = whole < 0 ? "−" : whole > 0 ? "+" : "";
  return `${sign}${number(Math.abs(whole))} ± ${number(Math.ceil(errorMs))} ms`;
};

const summary = ({ machines, count, skewMs, skewErrorMs }: Merged): Block => {
  const there = machines.filter(({ record }) => record !== undefined).length;
  return text(
    `${there === count ? "" : `${there} of `}${plural(count, "machine")} generated the load`,
    skewMs === undefined
      ? "."
      : `, starting within ${number(Math.round(skewMs))} ± ${number(Math.ceil(skewErrorMs ?? 0))} ms of one another.`,
  );
};

const machinesTable = ({ machines }: Merged): Table | undefined => {
  const haveProblems = machines.some(({ problems }) => problems.length > 0);
  return table(
    "Machines",
    [
      ">Segment",
      "Host",
      ">Arrivals",
      ">Of asked",
      ">Late, p99",
      ">Began",
      ">Drift",
      ...(haveProblems ? ["Problems"] : []),
    ],
    machines.map((machine) => [
      mark(machine.problems.length === 0 ? ["good", "check"] : ["open", "question"], String(machine.index)),
      lines(machine.host ?? "–", soft(machine.machine ?? "")),
      machine.arrivals === undefined ? "–" : number(machine.arrivals),
      shareOf(machine),
      machine.lagP99Ms === undefined ? "–" : latency(machine.lagP99Ms),
      machine.beganMs === undefined ? "unknown" : signed(machine.beganMs, machine.beganErrorMs),
      machine.driftMs === undefined ? "unknown" : `${number(Math.round(machine.driftMs))} ms`,
      ...(haveProblems ? [machine.problems.join("; ")] : []),
    ]),
  );
};

const shareOf = ({ arrivals, arrivalsAsked }: MergedMachine): string =>
  arrivals === undefined || arrivalsAsked === undefined || arrivalsAsked === 0
    ? "–"
    : percent(arrivals / arrivalsAsked);
