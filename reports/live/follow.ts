import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import path from "node:path";
import { recordFiles } from "../../conformance/contract/files.ts";
import {
  histogramUnit,
  loadFiles,
  type LoadBreach,
  type LoadRecord,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { isBreach } from "../../conformance/contract/verdict.ts";
import { latencyIn } from "../read/index.ts";
import { pointOf } from "../gather/course.ts";
import { countedOf } from "../../conformance/contract/distribution.ts";
import type { HeatCells, LiveEvent } from "./protocol.ts";
import { parseJson } from "../../conformance/contract/json.ts";

/** Larger reads of one file wait for the next poll, so that no poll takes long. */
const MOST_BYTES = 1_048_576;

const tail = (file: string) => {
  let offset = 0;
  return (): readonly string[] => {
    const added = readFrom(file, offset);
    offset += added.length;
    return added.toString("utf8").split("\n").slice(0, -1);
  };
};

const readFrom = (file: string, offset: number): Buffer => {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    // Most polls find nothing new, so they must cost almost nothing.
    const bytes = Buffer.alloc(Math.min(MOST_BYTES, Math.max(0, fstatSync(handle).size - offset)));
    const read = bytes.subarray(0, bytes.length === 0 ? 0 : readSync(handle, bytes, 0, bytes.length, offset));
    // The last line may be incomplete.
    return read.subarray(0, read.lastIndexOf(10) + 1);
  } finally {
    closeSync(handle);
  }
};

/** Reads a whole file if it changed since the last poll. */
const whole = (file: string) => {
  let before = "";
  return (): string => {
    const { mtimeMs, size, ino } = statSync(file, { throwIfNoEntry: false }) ?? {};
    const now = `${mtimeMs} ${size} ${ino}`;
    if (now === before) return "";
    before = now;
    return readFrom(file, 0).toString("utf8");
  };
};

const shownExchanges = 12;

const ruleOf = ({ id, verdict, durationMs, exchanges }: RuleResult): LiveEvent => {
  const settled = { kind: "rule", id, verdict: verdict.kind, durationMs, exchanges: [] } as const;
  if (!isBreach(verdict)) return settled;
  const { expected, actual } = verdict.breach;
  return { ...settled, expected, actual, exchanges: exchanges.slice(-shownExchanges) };
};

const beginOf = (record: RunRecord | LoadRecord): LiveEvent => {
  const target = record.target.name;
  if (record.command === "conform") return { kind: "gate", target, ids: record.selected };
  const { scenario, shape, rate, durationMs } = record;
  return { kind: "load", target, scenario, shape, rate, durationMs };
};

const heatOf = (line: string): HeatCells | undefined => {
  const found = latencyIn(line, { kind: "response", outcome: "granted" });
  if (found === undefined) return undefined;
  const counted = countedOf(found.histogram, histogramUnit.perMs);
  return { kind: "heat", endpoint: found.endpoint, ...pointOf(found.second, counted) };
};

/** Follows the record of a run as it is written: each poll reports what is new. */
export const follow = (directory: string, tell: (event: LiveEvent) => void): (() => void) => {
  const at = (name: string): string => path.join(directory, name);
  const files = {
    rules: tail(at(recordFiles.rules)),
    seconds: tail(at(loadFiles.seconds)),
    latency: tail(at(loadFiles.latency)),
    breaches: tail(at(loadFiles.breaches)),
  };
  const run = whole(at(recordFiles.run));
  let record: RunRecord | LoadRecord | undefined;
  let known: "nothing" | "begun" | "sealed" = "nothing";
  const lookAtRun = (): void => {
    record = (parseJson(run()) as RunRecord | LoadRecord | undefined) ?? record;
    if (record === undefined) return;
    if (known === "nothing") {
      known = "begun";
      return tell(beginOf(record));
    }
    if (record.state !== "sealed") return;
    known = "sealed";
    const of = record.command === "conform" ? "gate" : "load";
    tell({ kind: "outcome", of, outcome: record.outcome ?? "" });
  };
  const parsed = (lines: readonly string[]): readonly unknown[] =>
    lines.map(parseJson).filter((value) => value !== undefined);
  return () => {
    if (known === "nothing") lookAtRun();
    for (const rule of parsed(files.rules())) tell(ruleOf(rule as RuleResult));
    for (const line of parsed(files.seconds())) tell({ kind: "second", line: line as SecondLine });
    for (const line of files.latency()) {
      const heat = heatOf(line);
      if (heat !== undefined) tell(heat);
    }
    for (const breach of parsed(files.breaches())) tell({ kind: "breach", breach: breach as LoadBreach });
    if (known === "begun") lookAtRun();
  };
};
