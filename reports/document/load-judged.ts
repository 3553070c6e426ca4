import type {
  BreakpointStep,
  LoadBreach,
  LoadRecord,
  ObjectiveResult,
} from "../../conformance/contract/load-record.ts";
import { elapsed, plural, figure as number, latency, inUnit, rate } from "../text/figures.ts";
import { exchangesUnderLoad } from "../text/breach.ts";
import { knownRequirement } from "../text/titles.ts";
import type { Bucket } from "../gather/buckets.ts";
import type { LoadSubject } from "./load-subject.ts";
import {
  code,
  facts,
  figure,
  lines,
  mark,
  soft,
  softText,
  strong,
  table,
  text,
  type Block,
  type Card,
  type Look,
  type Table,
  type Text,
} from "./model.ts";

export const invalid = ({ validity }: LoadRecord): readonly Card[] =>
  (validity?.reasons ?? [])
    .filter(() => validity?.valid === false)
    .map(({ reason, remedy }) => ({
      is: "card",
      header: mark(["open", "question"], [reason], "inconclusive"),
      blocks: [text(remedy)],
    }));

const shownBreaches = ({ breaches, record }: LoadSubject): readonly LoadBreach[] =>
  breaches === undefined || breaches.shown.length === 0 ? record.breaches : breaches.shown;

const breachId = (prefix: string, at: number): string => `${prefix}breach-${at + 1}`;

/** The id of the first card on a breach of this rule in these seconds, if one is shown. */
export const breachFinder =
  (subject: LoadSubject, prefix: string) =>
  (rule: string, { second, seconds }: Pick<Bucket, "second" | "seconds">): string | undefined => {
    const at = shownBreaches(subject).findIndex(
      (one) => one.rule === rule && one.atMs >= second * 1_000 && one.atMs < (second + seconds) * 1_000,
    );
    return at < 0 ? undefined : breachId(prefix, at);
  };

export const breachBlocks = (subject: LoadSubject, prefix: string): readonly (Block | false)[] => {
  const { breaches, record } = subject;
  const shown = shownBreaches(subject);
  const total = record.rules.reduce((sum, rule) => sum + rule.breaches, 0);
  const all = Math.max(total, breaches?.count ?? 0, shown.length);
  return [
    ...shown.map((one, at) => breachCard(one, breachId(prefix, at), record.target.baseUrl)),
    shown.length < all &&
      softText(
        `${number(shown.length)} of ${plural(all, "breach", "breaches")} are shown here; breaches.jsonl has those that were kept.`,
      ),
  ];
};

const breachCard = (breach: LoadBreach, id: string, baseUrl: string): Card => ({
  is: "card",
  tone: "failed",
  id,
  header: mark(["bad", "cross"], code(breach.rule), "failed"),
  beside: `after ${elapsed(breach.atMs)}, at ${rate(breach.askedRate)} arrivals a second`,
  promise: knownRequirement(breach.rule)?.sentence ?? "",
  blocks: [
    facts([
      ["Expected", breach.expected],
      ["Seen", strong(breach.actual)],
    ]),
    {
      is: "exchanges",
      count: breach.exchanges.length,
      where: "run.json",
      baseUrl,
      about: `${breach.expected} ${breach.actual}`,
      shown: exchangesUnderLoad(breach),
    },
  ],
});

const objectiveLooks: Readonly<Record<ObjectiveResult["verdict"], readonly [Look, word: string]>> = {
  held: [["good", "check"], "passed"],
  breached: [["bad", "cross"], "failed"],
  "not measured": [["open", "dash"], "not measured"],
};

export const objectivesTable = ({ objectives }: LoadRecord): Table | undefined =>
  table(
    "Objectives",
    ["Objective", ">Limit", ">Measured", "Against the limit"],
    objectives.map((one) => {
      const { name, bound, limit, unit, verdict, measured, interval } = one;
      // What so few requests cannot show has no plain tick.
      const [look, word]: readonly [Look, string] =
        verdict === "held" && one.reason !== undefined
          ? [["open", "ring"], "held, not shown"]
          : objectiveLooks[verdict];
      return [
        mark(look, [name], word),
        `${bound} ${inUnit(limit, unit)}`,
        measuredText(one),
        measured === undefined
          ? ""
          : {
              is: "bullet",
              label: `${word}; ${bound} the limit`,
              measured,
              limit,
              interval,
              wrong: verdict === "breached",
            },
      ];
    }),
  );

const measuredText = ({ measured, interval, unit, reason, verdict }: ObjectiveResult): Text => {
  if (measured === undefined) return reason ?? verdict;
  const between =
    interval === undefined ? "" : ` (${inUnit(interval[0], unit)} to ${inUnit(interval[1], unit)})`;
  return [
    inUnit(measured, unit),
    soft(between),
    soft(reason === undefined ? "" : verdict === "held" ? `; held; ${reason}` : ` ${reason}`),
  ];
};

const stepLooks: Readonly<Record<BreakpointStep["verdict"], readonly [Look, word: string]>> = {
  held: [["good", "check"], "passed"],
  "gave way": [["bad", "cross"], "failed"],
  spoilt: [["open", "question"], "invalid"],
};

/** What a search found: a highest rate only where something gave way above it. */
export const searchAnswer = ({
  steps = [],
  highestRate,
}: Pick<LoadRecord, "steps" | "highestRate">): string => {
  if (highestRate === undefined) return "The objectives were met at no rate that was tried.";
  const isHighest = steps.some((step) => step.verdict === "gave way" && step.rate > highestRate);
  return isHighest
    ? `The highest rate with all objectives met is ${rate(highestRate)} requests a second.`
    : `All objectives are met at ${rate(highestRate)} requests a second at least; nothing gave way above it.`;
};

export const searchBlocks = (record: LoadRecord): readonly Block[] => {
  const { steps = [], highestRate } = record;
  if (steps.length === 0) return [];
  const rates = steps.map((step) => step.rate);
  const rows = table(
    "The search for the highest rate",
    [">Step", ">Asked, requests a second", ">Achieved", "Outcome", "p95", "Why"],
    steps.map((step, at) => [
      String(at + 1),
      rate(step.rate),
      rate(step.achieved),
      mark(...stepLooks[step.verdict]),
      lines(
        ...Object.entries(step.p95Ms ?? {})
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([endpoint, ms]) => `${endpoint} ${latency(ms)}`),
      ),
      [step.gaveWay, step.reason].filter((one) => one !== undefined).join(": "),
    ]),
  );
  return [
    text(searchAnswer(record)),
    figure({
      title: "Rates that were tried",
      note: "Requests a second, on a logarithmic axis, one step after another. The line is what was asked for, the mark what was achieved.",
      legend: [
        ["steps-held", "passed"],
        ["steps-gave", "failed"],
        ["steps-spoilt", "invalid: says nothing about the service"],
      ],
      picture: {
        is: "steps",
        label: `${steps.length} steps from ${rate(Math.min(...rates))} to ${rate(Math.max(...rates))} requests a second; ${highestRate === undefined ? "none passed" : `the highest that passed is ${rate(highestRate)}`}.`,
        steps,
      },
      open: true,
      table: rows,
    }),
  ];
};
