import type { GateRun, LoadRun, Run } from "../read/index.ts";
import { whyIncomplete, whyUnjudged } from "../validity.ts";

export interface Lacking {
  readonly side: "base" | "head";
  /** What was not checked: "the run" as a whole, a rule, or an endpoint. */
  readonly what: string;
  readonly why: string;
}

export const lackingOf = (base: Run, head: Run): readonly Lacking[] => [
  ...lackingIn("head", head, base),
  ...lackingIn("base", base, head),
];

const lackingIn = (side: Lacking["side"], run: Run, other: Run): readonly Lacking[] => {
  const why = whyIncomplete(run);
  const checked = new Set(checksOf(run).flatMap((one) => (one.why === undefined ? [one.what] : [])));
  const reasons = new Map(checksOf(run).map((one) => [one.what, one.why]));
  return [
    ...(why === undefined ? [] : [{ side, what: "the run", why }]),
    ...checksOf(other)
      .filter((one) => one.why === undefined && !checked.has(one.what))
      .map(({ what }) => ({ side, what, why: reasons.get(what) ?? "not checked" })),
  ];
};

/** Something that a run could check, and why it did not; no reason where it did. */
interface Check {
  readonly what: string;
  readonly why: string | undefined;
}

const checksOf = (run: Run): readonly Check[] => (run.kind === "conform" ? rulesOf(run) : loadOf(run));

const rulesOf = ({ record }: GateRun): readonly Check[] => {
  const settled = new Map(record.rules.map((result) => [result.id, result]));
  return [...new Set([...record.selected, ...settled.keys()])].map((id) => {
    const result = settled.get(id);
    return { what: id, why: result === undefined ? "not reached" : whyUnjudged(result) };
  });
};

const loadOf = ({ record }: LoadRun): readonly Check[] => [
  ...record.rules.map(({ id, checks }) => ({ what: id, why: checks > 0 ? undefined : "not checked" })),
  ...record.endpoints
    .filter(({ outcome }) => outcome === "granted")
    .map(({ endpoint }) => ({ what: `endpoint ${endpoint}`, why: undefined })),
];
