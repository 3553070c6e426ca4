import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { duration } from "../../conformance/contract/duration.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { words } from "../text/facts.ts";
import { elapsed } from "../text/figures.ts";
import { outcomeLook, callout, code, lines, soft, table, type Block, type Fact, type Look } from "./model.ts";

export interface Place {
  /** Prefix of every id of a run, so that several runs can share a page. */
  readonly prefix: string;
  readonly program: string;
}

export interface GateOptions extends Place {
  /** `failures`: only what is broken; `brief`: plus a short account of the rest; `full`: all measurements. */
  readonly detail: "failures" | "brief" | "full";
}

export interface LoadOptions extends Pick<Place, "prefix"> {
  /** Only `full` has the sentences of rules and how the load was made. */
  readonly detail: "failures" | "brief" | "full";
}

type AnyRecord = RunRecord | LoadRecord;

/** For example " in 6.3 s"; empty for a run that has not ended. */
export const took = ({ startedAt, endedAt }: AnyRecord): string => {
  const tookMs = endedAt === undefined ? -1 : Date.parse(endedAt) - Date.parse(startedAt);
  // The machine's clock may have been set back during the run.
  return tookMs < 0 ? "" : ` in ${elapsed(tookMs)}`;
};

/** Whether all held, but the record or a report could not be written. */
export const isUnwritten = ({ outcome, exitCode }: AnyRecord): boolean =>
  outcome === "passed" && exitCode === exitCodes["harness-error"];

export const runLook = (record: AnyRecord): Look => {
  if (isUnwritten(record)) return outcomeLook("harness-error");
  return outcomeLook(record.outcome);
};

export const targetFacts = ({
  target,
  replacedLimits,
  startedAt,
  tool,
  seed,
  ...record
}: AnyRecord): readonly Fact[] => [
  ...(target.profiles.length === 0 ? [] : [["Profile", lines(...target.profiles.map(code))] as const]),
  ["Target", lines(target.name, soft(target.baseUrl))],
  ...(target.behaviour === undefined ? [] : [["Behaviour", code(target.behaviour)] as const]),
  ["Limits", replacedLimits.length === 0 ? "the document’s own" : "some differ from the document’s"],
  ...("settings" in record && Object.keys(record.settings).length > 0
    ? [
        [
          "Settings",
          lines(...Object.entries(record.settings).map(([key, value]) => code(`${key}: ${value}`))),
        ] as const,
      ]
    : []),
  // As in the record: the reader's time zone may differ from the writer's.
  ["Started", startedAt.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")],
  ["Judged with", lines(`Touchstone ${tool}`, soft(`seed ${seed}`))],
];

type Limit = number | readonly number[] | undefined;

/** What readers must know before they read the headline. */
export const limitsCallout = ({ replacedLimits, limits }: AnyRecord): Block | undefined =>
  replacedLimits.length === 0
    ? undefined
    : callout(
        "Judged by limits that differ from the document’s",
        table(
          "Replaced limits",
          ["Limit", "In this run", "In the document"],
          replacedLimits.map((name) => [
            words(name),
            limitText(name, limits[name]),
            limitText(name, Object.entries<Limit>({ ...documentLimits }).find(([key]) => key === name)?.[1]),
          ]),
        ),
      );

const limitText = (name: string, value: Limit): string => {
  if (value === undefined) return "nothing";
  if (typeof value !== "number") return value.map((one) => limitText(name, one)).join(", ");
  return name.endsWith("Ms") ? duration(value) : String(value);
};
