import { duration } from "../../conformance/contract/duration.ts";
import { cut } from "../../conformance/contract/text.ts";
import { canonicalJson } from "../../conformance/contract/verdict.ts";
import type { FingerprintDifference } from "./shape.ts";
import { runsBelow } from "../read/folder.ts";
import type { Run } from "../read/index.ts";
import { realpathSync } from "node:fs";

/** Everything that must be equal for two runs to be comparable, part by part. */
export type Fingerprint = Readonly<Record<string, string>>;

/**
 * A load run records its own. A gate run is comparable by what was requested: target name, limits, other settings, effort and rules.
 * The build under test (address, behaviour of the fake) is what is compared, and the seed only adds chance.
 */
export const fingerprintOf = (run: Run): Fingerprint => {
  if (run.kind === "load") {
    const { fingerprint, target } = run.record;
    return fingerprint["target"] === target.name
      ? { ...fingerprint, target: targetNameOf(target) }
      : fingerprint;
  }
  const { target, limits, settings, effort, selected } = run.record;
  return {
    target: targetNameOf(target),
    clock: target.clock,
    effort,
    limits: canonicalJson(limits),
    ...settings,
    rules: selected.toSorted((a, b) => (a < b ? -1 : 1)).join(", "),
  };
};

/**
 * The target's name without the behaviour that the embedded fake appends in brackets: another behaviour is another
 * build of the same target.
 */
export const targetNameOf = ({ name, behaviour }: Run["record"]["target"]): string =>
  behaviour === undefined ? name : name.replace(` (${behaviour})`, "");

export const differences = (base: Fingerprint, head: Fingerprint): readonly FingerprintDifference[] =>
  [...new Set([...Object.keys(base), ...Object.keys(head)])]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .filter((part) => base[part] !== head[part])
    .map((part) => {
      const [ofBase, ofHead] = [base[part] ?? "", head[part] ?? ""];
      return part === "rules"
        ? { part, base: without(ofBase, ofHead), head: without(ofHead, ofBase) }
        : { part, base: ofBase, head: ofHead };
    });

/** The rules of one list that are missing from the other. */
const without = (rules: string, others: string): string =>
  [...new Set(rules.split(", ")).difference(new Set(others.split(", ")))].join(", ");

const MOST_SHOWN = 60;

/** One side of a difference for readers: with units, a long value cut. */
export const shownPart = ({ part, ...sides }: FingerprintDifference, side: "base" | "head"): string => {
  const value = sides[side];
  if (value === "") return "(none)";
  if (["duration", "warmUp"].includes(part)) return duration(Number(value));
  if (part === "rate") return `${value} a second`;
  return cut(value, MOST_SHOWN);
};

const MOST_RUNS = 50;

/**
 * The latest earlier runs in a folder, at most `most`, of the same kind and fingerprint as `head`. Unreadable runs are
 * left out, and those that were `given` beside the folder are not repeated. Throws ConfigurationError if the folder
 * cannot be read.
 */
export const baselineOf = async (folder: string, head: Run, given: readonly string[] = []) => {
  const met = new Set([head.directory, ...given].map((one) => realpathSync(one)));
  const runs: Run[] = [];
  const leftOut: { directory: string; reason: string }[] = [];
  for await (const { directory, run } of runsBelow(folder)) {
    const real = typeof run === "string" ? directory : realpathSync(directory);
    if (met.has(real)) continue;
    met.add(real);
    const reason = typeof run === "string" ? run : unfit(run, head);
    if (typeof run === "string" || reason !== undefined)
      leftOut.push({ directory, reason: reason ?? "it cannot be read" });
    else runs.push(run);
  }
  const inOrder = runs.toSorted((a, b) => (a.record.startedAt < b.record.startedAt ? -1 : 1));
  return { runs: inOrder.slice(-MOST_RUNS), leftOut };
};

const unfit = (run: Run, head: Run): string | undefined => {
  if (run.kind !== head.kind) return run.kind === "load" ? "it is a load run" : "it is a gate run";
  if (run.record.startedAt >= head.record.startedAt) return "it is not an earlier run";
  const parts = differences(fingerprintOf(run), fingerprintOf(head)).map(({ part }) => part);
  return parts.length === 0 ? undefined : `it differs in ${parts.join(", ")}`;
};
