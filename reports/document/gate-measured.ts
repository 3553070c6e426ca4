import { duration } from "../../conformance/contract/duration.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import {
  compactFields,
  words,
  leavesOf,
  parseFingerprint,
  cameText,
  factsOf,
  factText,
  intervalsOf,
  otherFactsOf,
  readingsOf,
  scheduleRowsOf,
  secondsText,
  type ScheduleRow,
  type Lifetime,
} from "../text/facts.ts";
import { plural } from "../text/figures.ts";
import { readingLines, ruleAnchor, ruleLink } from "./gate-rules.ts";
import {
  figure,
  lines,
  soft,
  softText,
  strong,
  table,
  type Block,
  type Figure,
  type Table,
  type Text,
} from "./model.ts";
import type { GateOptions, Place } from "./run.ts";

export const lifetimesFigure = ({ rules }: RunRecord, options: GateOptions): Figure | undefined => {
  const measured = rules.flatMap((result) =>
    kindsOf(result).map((kinds) => ({
      id: result.id,
      anchor: ruleAnchor(options, result.id),
      ...kinds,
    })),
  );
  const intervals = measured.map(({ interval }) => interval);
  const rows = table(
    "Measured lifetimes",
    ["Rule", "Of what", ">Promised", ">Accepted up to", ">Refused from", ">Resolution"],
    measured.map(({ id, names, interval }) => [
      id,
      options.detail === "full" || names.length === 1 ? names.join(", ") : plural(names.length, "kind"),
      duration(interval.lifetimeMs),
      ageText(interval.acceptedUpToMs),
      ageText(interval.refusedFromMs),
      resolutionText(interval),
    ]),
  );
  return (
    rows &&
    figure({
      title: "Measured lifetimes",
      note: [
        "Each credential was probed once, at ages on both sides of its promised end. Its true lifetime lies between the two ages. An end that is off by up to the resolution would not be detected.",
        ...(intervals.some((one) => sidesOf(one).includes(undefined))
          ? ["A dash: the rule asks about the other side only."]
          : []),
      ].join(" "),
      drawn: "The axis is logarithmic on both sides of the promised end, so that seconds show beside days.",
      legend: [
        ["good", "still accepted"],
        ["ended", "refused"],
        ["wrong", "on the wrong side of the promise"],
      ],
      picture: { is: "lifetimes", rows: measured },
      table: rows,
    })
  );
};

type Kinds = { readonly names: readonly string[]; readonly interval: Lifetime };

const sidesOf = ({ acceptedUpToMs, refusedFromMs }: Lifetime): readonly [unknown, unknown] => [
  acceptedUpToMs,
  refusedFromMs,
];

/** The kinds of credential that a rule measured, together where their ages agree; one may show a single side. */
const kindsOf = (result: RuleResult): readonly Kinds[] => {
  const kinds: Kinds[] = [];
  const all = intervalsOf(result).filter(([, interval]) => sidesOf(interval).some((ms) => ms !== undefined));
  // Those with both sides first, so that the others join them.
  const bothFirst = all.toSorted(([, a], [, b]) => oneSided(a) - oneSided(b));
  for (const [name, interval] of bothFirst) {
    const at = kinds.findIndex((one) => agree(one.interval, interval));
    const one = kinds[at];
    if (one === undefined) kinds.push({ names: [name], interval });
    else kinds[at] = { names: [...one.names, name], interval: withCoarser(one.interval, interval) };
  }
  return kinds;
};

/** The resolution of kinds together is that of the one which is known least well. */
const withCoarser = (one: Lifetime, other: Lifetime): Lifetime => {
  const known = [one, other].filter(hasResolution).map(({ resolutionMs }) => resolutionMs);
  return known.length === 0 ? one : { ...one, resolutionMs: Math.max(...known) };
};

const hasResolution = (one: Lifetime): one is Lifetime & { readonly resolutionMs: number } =>
  typeof one.resolutionMs === "number";

/** Empty where an end was wrong: it was detected. */
const resolutionText = (one: Lifetime): string => (hasResolution(one) ? duration(one.resolutionMs) : "");

const oneSided = (interval: Lifetime): number => Number(sidesOf(interval).includes(undefined));

const agree = (one: Lifetime, other: Lifetime): boolean => {
  const sides = sidesOf(one);
  return (
    one.lifetimeMs === other.lifetimeMs &&
    sidesOf(other).every((ms, side) =>
      ms === undefined ? oneSided(one) === 0 || sides[side] === undefined : ms === sides[side],
    )
  );
};

/** JSON stores an infinite age as null. */
const ageText = (ms: unknown): string => {
  if (typeof ms === "number" && Number.isFinite(ms)) return ms === 0 ? "never" : duration(ms);
  return ms === undefined ? "–" : "never";
};

export const readingsTable = (rules: readonly RuleResult[], place: Place): Table | undefined =>
  table(
    "Readings that fit the evidence",
    ["Rule", "Readings"],
    rules.map((result) => {
      const { id } = result;
      const allowed = readingsOf(result);
      return allowed && [ruleLink(place, id), readingLines(allowed, id)];
    }),
  );

export const alsoMeasured = (rules: readonly RuleResult[], place: Place): Table | undefined =>
  table(
    "Also measured",
    ["Rule", "Measured"],
    rules.map((result) => {
      const others = otherFactsOf(result).map(([name, value]) => factText(name, value));
      return others.length > 0 && [ruleLink(place, result.id), others.join(" · ")];
    }),
  );

export const pushBlocks = (record: RunRecord, place: Place): readonly (Block | undefined)[] =>
  record.rules.flatMap((result) => {
    const rows = scheduleRowsOf(result);
    return rows.length === 0
      ? []
      : [scheduleFigure(result, rows, record, place), anchorText(result), exactnessText(result)];
  });

const scheduleFigure = (
  result: RuleResult,
  rows: readonly ScheduleRow[],
  { limits }: RunRecord,
  place: Place,
): Figure => {
  const fits = new Set<unknown>(readingsOf(result));
  const names = [...new Set(rows.flatMap(({ expectedMs }) => Object.keys(expectedMs)))].toSorted();
  const mostPushes = typeof limits["maxPushes"] === "number" ? limits["maxPushes"] : Infinity;
  const all = table(
    "The retry schedule, in seconds after the event",
    [">Push", ">Came after", ...names.map((name) => (fits.has(name) ? `>${name} (fits)` : `>${name}`))],
    rows.map((row) => [
      String(row.push),
      cameText(row),
      ...names.map((name) => secondsText(row.expectedMs[name])),
    ]),
  );
  const isBeyond = names.some(
    (name) => fits.has(name) && rows.filter((row) => row.expectedMs[name] !== undefined).length > mostPushes,
  );
  return figure({
    title: "The retry schedule",
    note: [
      "Pushes of one notification that was never acknowledged, in seconds after its event (",
      ruleLink(place, result.id),
      "). A reading fits if every push lies in a window; a window is as wide as a push may be late.",
    ],
    drawn: "Seconds after the event are drawn by their square root, so that early pushes do not crowd.",
    legend: [
      ["measured", "a measured push"],
      ["band", "time in which it came"],
      ["window-fits", "window of a reading that fits"],
      ["window-out", "window of a reading that does not fit"],
      isBeyond && ["window-beyond", "window of a reading that fits, beyond the cap"],
    ],
    picture: { is: "schedule", result, rows, fits, names, mostPushes },
    table: all,
  });
};

const anchorText = (result: RuleResult): Block | undefined => {
  const counted = factsOf(result)["anchors"];
  if (!Array.isArray(counted)) return undefined;
  return softText(
    counted.length === 1
      ? `Delays count from the ${counted[0] === "start" ? "start" : "failure"} of a push.`
      : "The pushes do not show whether delays count from a push's start or from its failure.",
  );
};

/** If the clock moved in fine steps, the table already shows the resolution. */
const exactnessText = (result: RuleResult): Block | undefined => {
  const { resolutionMs } = factsOf(result);
  return typeof resolutionMs === "number" && resolutionMs > COARSE_MS
    ? softText(`A push up to ${duration(resolutionMs)} off schedule would not be detected.`)
    : undefined;
};

const COARSE_MS = 3_000;

export const observedTable = ({ rules, pinned }: RunRecord, place: Place): Table | undefined =>
  table(
    "Observed where the document is silent",
    ["Observation", "What the service does"],
    rules.map(({ id, verdict }) => {
      if (verdict.kind !== "observed") return undefined;
      const was = Object.hasOwn(pinned, id) ? pinned[id] : undefined;
      const seen = fingerprintText(verdict.fingerprint);
      return [
        ruleLink(place, id),
        was === undefined || was === verdict.fingerprint
          ? seen
          : lines(seen, [strong("The profile pins "), fingerprintText(was)]),
      ];
    }),
  );

/** The values of a fingerprint: what several fields share is shown once, with their names. */
export const fingerprintText = (fingerprint: string): Text => {
  const value = parseFingerprint(fingerprint);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return compactFields(value);
  const byLeaf = Map.groupBy(leavesOf(value), ([, leaf]) => leaf);
  return lines(
    ...[...byLeaf].map(([leaf, members]): Text => {
      const names = members.map(([name]) => words(name));
      return names.length === 1
        ? [soft(`${names[0]}: `), strong(leaf)]
        : [strong(leaf), soft(` for ${names.join(" · ")}`)];
    }),
  );
};
