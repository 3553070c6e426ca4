import { decodeFromCompressedBase64, type Int32Histogram } from "hdr-histogram-js";
import { exitCodes } from "../../../conformance/contract/exit-codes.ts";
import type { LoadBreach, LoadRecord, LoadRule } from "../../../conformance/contract/load-record.ts";
import { withUnchecked } from "../verdicts.ts";
import { stagesOf, type ShapeName } from "../../stages.ts";
import type { Profile } from "../../../conformance/contract/profile.ts";
import type { Merged } from "../../../conformance/contract/segments.ts";
import { createTotals, type Totals } from "../collect/totals.ts";
import { judgeObjectives } from "../judge/objectives.ts";
import { busyNotes, causeNotes, firstsOfEach, judgedOutcome } from "../judge/validity.ts";
import { openLoadRecord, pick, type LoadFinal, type LoadHeader } from "../record.ts";
import { mergeCourse, duplicatesAcross, sum, type FoundDuplicates } from "./course.ts";
import { machineText } from "../header.ts";
import {
  begunOf,
  gaveUp,
  machinesOf,
  mergedValidity,
  skewOf,
  type AnyLoadRun,
  type SegmentRun,
  segmentsOfOneRun,
} from "./machines.ts";

/**
 * Merges the segments of a load into one run and writes its record to `out`. Histograms are added cell by cell, so
 * percentiles are those of a single machine playing everything. Throws ConfigurationError, before anything is written,
 * if the records are not segments of one run.
 */
export const mergeSegments = async (runs: readonly AnyLoadRun[], out: string): Promise<LoadRecord> => {
  const segments = segmentsOfOneRun(runs);
  const merged = mergedOf(segments);
  const header = headerOf(segments, merged);
  using writer = openLoadRecord(out, header);
  const stages = stagesOf(header.shape as ShapeName, header.arrivalRate, header.durationMs);
  const totals = createTotals(stages, header.warmUpMs);
  const found = await duplicatesAcross(segments, stages);
  const breaches = await breachesOf(segments, found);
  for (const breach of breaches) writer.breach(breach);
  const seconds = await mergeCourse(segments, {
    writer,
    totals,
    startAtMs: Date.parse(merged.startAt),
    found: found.bySecond,
  });
  for (const { segment } of segments)
    if (segment.lag !== undefined) totals.addLag(decodeFromCompressedBase64(segment.lag) as Int32Histogram);
  const isWhole = merged.machines.every(({ problems }) => problems.length === 0);
  const summary = totals.summary(seconds * 1_000, isWhole);
  const { rules, notes } = withUnchecked(header.scenario, await rulesOf(segments, found));
  return writer.seal(
    finalOf(segments, { merged, summary, rules, notes, breaches, cores: header.machine.cores }),
  );
};

const first = (segments: readonly SegmentRun[]): SegmentRun => segments[0] as SegmentRun;

const mergedOf = (segments: readonly SegmentRun[]): Merged => {
  const { runId, count, startAt } = first(segments).segment;
  const machines = machinesOf(segments, count);
  return { runId, count, startAt, ...skewOf(machines), machines: [...machines] };
};

const headerOf = (segments: readonly SegmentRun[], merged: Merged): LoadHeader => {
  const { record } = first(segments);
  const machines = segments.map((one) => one.record.machine);
  const kinds = [...new Set(machines.map(machineText))];
  return {
    ...pick(record, shared),
    startedAt: merged.startAt,
    virtualUsers: sum(segments.map((one) => one.record.virtualUsers)),
    k6: { version: record.k6.version, from: record.k6.from },
    machine: {
      ...record.machine,
      cores: sum(machines.map(({ cores }) => cores)),
      memoryMiB: sum(machines.map(({ memoryMiB }) => memoryMiB)),
      processor: [...new Set(machines.map(({ processor }) => processor))].join(" and "),
    },
    fingerprint: { ...record.fingerprint, machine: `${merged.count} of ${kinds.join("; ")}` },
    endpoints: [],
    objectives: [],
    rules: [],
    breaches: [],
    merged,
    notes: notesOf(segments),
  };
};

/** Fields that are the same in all segments' records. */
const shared = [
  "tags",
  "tool",
  "seed",
  "target",
  "limits",
  "replacedLimits",
  "scenario",
  "shape",
  "rate",
  "arrivalRate",
  "durationMs",
  "warmUpMs",
] as const;

const notesOf = (segments: readonly SegmentRun[]): string[] =>
  segments.flatMap(({ record, segment }) => record.notes.map((note) => `segment ${segment.index}: ${note}`));

const breachesOf = async (
  segments: readonly SegmentRun[],
  found: FoundDuplicates,
): Promise<readonly LoadBreach[]> => {
  const all = [...found.breaches];
  for (const run of segments) {
    const laterMs = begunOf(run)?.ms ?? 0;
    for await (const breach of run.breaches())
      all.push({ ...breach, atMs: breach.atMs + laterMs, segment: run.segment.index });
  }
  return all.toSorted((a, b) => a.atMs - b.atMs);
};

/**
 * How often each rule was checked and broken on all machines. For a record that was cut off, breaches are counted from
 * its seconds.
 */
const rulesOf = async (
  segments: readonly SegmentRun[],
  { byRule }: FoundDuplicates,
): Promise<readonly LoadRule[]> => {
  const rules = new Map<string, LoadRule>();
  const add = ({ id, checks, breaches, note }: LoadRule): void => {
    const sum = rules.get(id) ?? { id, checks: 0, breaches: 0 };
    const notes = [...new Set([sum.note, note].filter((one) => one !== undefined))];
    rules.set(id, {
      id,
      checks: sum.checks + Math.max(checks, breaches),
      breaches: sum.breaches + breaches,
      ...(notes.length === 0 ? {} : { note: notes.join("; ") }),
    });
  };
  for (const run of segments) {
    for (const rule of run.record.rules) add(rule);
    if (run.record.state === "sealed") continue;
    for await (const { breaches } of run.seconds())
      for (const [id, count] of Object.entries(breaches)) add({ id, checks: count, breaches: count });
  }
  // Each was checked where it was issued.
  for (const [id, count] of Object.entries(byRule)) {
    const { checks = 0 } = rules.get(id) ?? {};
    add({ id, checks: 0, breaches: count });
    rules.set(id, { ...(rules.get(id) as LoadRule), checks: Math.max(checks, count) });
  }
  return [...rules.values()];
};

type JudgedTogether = Readonly<{ merged: Merged; summary: Totals; cores: number }> &
  Pick<LoadRecord, "rules" | "notes" | "breaches">;

const finalOf = (
  segments: readonly SegmentRun[],
  { merged, summary, rules, notes, breaches, cores }: JudgedTogether,
): LoadFinal => {
  const { record, segment } = first(segments);
  const { achieved } = summary;
  const validity = mergedValidity(achieved, merged, cores);
  const slos = segment.objectives as Profile["slos"];
  const objectives = judgeObjectives({ ...(slos && { slos }) }, { ...summary, seed: record.seed });
  const stopped = gaveUp(segments, merged.count);
  const outcome = stopped === undefined ? judgedOutcome({ rules, validity, objectives, achieved }) : "failed";
  const ends = segments.map((one) => one.record.endedAt ?? one.record.startedAt);
  return {
    endedAt: ends.toSorted().at(-1) ?? "",
    achieved,
    validity,
    ...(stopped === undefined ? {} : { stopped }),
    endpoints: [...summary.endpoints],
    objectives: [...objectives],
    rules: [...rules],
    notes: [...causeNotes(rules), ...busyNotes({ objectives, achieved }), ...notes],
    breaches: firstsOfEach(breaches, 1),
    outcome,
    exitCode: exitCodes[outcome],
  };
};
