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
import type { LoadView } from "../gather/gather.ts";
import {
  code,
  facts,
  figure,
  given,
  lines,
  mark,
  soft,
  softText,
  strong,
  table,
  text,
  type Block,
  type Card,
  type Fact,
  type Look,
  type Table,
  type Text,
} from "./model.ts";

type LoadSubject = Pick<LoadView, "record" | "breaches">;

export const invalid = ({ validity }: LoadRecord): readonly Card[] =>
  (validity?.reasons ?? [])
    .filter(() => validity?.valid === false)
    .map(({ reason, remedy }) => ({
      is: "card",
      header: mark(["open", "question"], [reason], "inconclusive"),
      blocks: [text(remedy)],
    }));

/** Of each rule that broke the first breach, which the record has, and behind it the later ones that were read. */
const shownBreaches = ({ breaches, record }: LoadSubject): readonly (readonly LoadBreach[])[] => {
  const read = Map.groupBy(breaches?.shown ?? [], ({ rule }) => rule);
  const unread = record.breaches.filter(({ rule }) => !read.has(rule));
  return [...read.values(), ...unread.map((one) => [one])];
};

const breachId = (prefix: string, at: number): string => `${prefix}breach-${at + 1}`;

/** The id of the first card shown for a breach of this rule in these seconds, if any. */
export const breachFinder =
  (subject: LoadSubject, prefix: string) =>
  (rule: string, { second, seconds }: Pick<Bucket, "second" | "seconds">): string | undefined => {
    const at = shownBreaches(subject)
      .flat()
      .findIndex(
        (one) => one.rule === rule && one.atMs >= second * 1_000 && one.atMs < (second + seconds) * 1_000,
      );
    return at < 0 ? undefined : breachId(prefix, at);
  };

export const breachBlocks = (subject: LoadSubject, prefix: string): readonly (Block | false)[] => {
  const { breaches, record } = subject;
  const byRule = shownBreaches(subject);
  const shown = byRule.flat();
  const total = record.rules.reduce((sum, rule) => sum + rule.breaches, 0);
  const all = Math.max(total, breaches?.count ?? 0, shown.length);
  return [
    ...byRule.flatMap((ofRule): readonly Block[] => {
      const [first, ...later] = ofRule.map((one, at) =>
        breachCard(one, breachId(prefix, shown.indexOf(one)), record, at === 0),
      );
      const summary = `${plural(later.length, "later breach", "later breaches")} of this rule`;
      return given([first, later.length > 0 && { is: "fold", summary, blocks: later }]);
    }),
    shown.length < all &&
      softText(
        `${number(shown.length)} of ${plural(all, "breach", "breaches")} are shown here; breaches.jsonl has those that were kept.`,
      ),
  ];
};

const breachCard = (
  breach: LoadBreach,
  id: string,
  { target, rules }: LoadRecord,
  isFirst: boolean,
): Card => ({
  is: "card",
  tone: "failed",
  id,
  header: mark(["bad", "cross"], code(breach.rule), "failed"),
  beside: `after ${elapsed(breach.atMs)}, at ${rate(breach.askedRate)} arrivals per second`,
  promise: knownRequirement(breach.rule)?.sentence ?? "",
  blocks: [
    facts([
      ["Expected", breach.expected],
      ["Seen", strong(breach.actual)],
      isFirst && howOften(rules.find(({ id: rule }) => rule === breach.rule)),
    ]),
    {
      is: "exchanges",
      count: breach.exchanges.length,
      where: "run.json",
      baseUrl: target.baseUrl,
      about: `${breach.expected} ${breach.actual}`,
      shown: exchangesUnderLoad(breach),
    },
  ],
});

const howOften = (rule: LoadRecord["rules"][number] | undefined): Fact | undefined =>
  rule && ["How often", `${plural(rule.breaches, "time")} in ${plural(rule.checks, "check")}`];

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
      // If too few requests could show a breach, the tick is not plain.
      const [look, word]: readonly [Look, string] =
        verdict === "held" && one.reason !== undefined
          ? [["open", "ring"], "held, not proven"]
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

/** What a search found; a highest rate only if something failed above it. */
export const searchAnswer = ({
  steps = [],
  highestRate,
}: Pick<LoadRecord, "steps" | "highestRate">): string => {
  if (highestRate === undefined) return "The objectives were not met at any rate tried.";
  const isHighest = steps.some((step) => step.verdict === "gave way" && step.rate > highestRate);
  return isHighest
    ? `The highest rate that meets all objectives is ${rate(highestRate)} requests per second.`
    : `All objectives are met at ${rate(highestRate)} requests per second; no higher rate was shown to fail.`;
};

export const searchBlocks = (record: LoadRecord): readonly Block[] => {
  const { steps = [], highestRate } = record;
  if (steps.length === 0) return [];
  const rates = steps.map((step) => step.rate);
  const measured = [...new Set(steps.flatMap(({ p95Ms = {} }) => Object.keys(p95Ms)))].toSorted();
  const rows = table(
    "The search for the highest rate",
    [">Step", ">Asked/s", ">Achieved/s", ...measured.map((endpoint) => `>${endpoint} p95`), "Outcome"],
    steps.map(({ rate: asked, achieved, p95Ms = {}, verdict, gaveWay, reason }, at) => [
      String(at + 1),
      rate(asked),
      rate(achieved),
      ...measured.map((endpoint) => (p95Ms[endpoint] === undefined ? "" : latency(p95Ms[endpoint]))),
      lines(mark(...stepLooks[verdict]), reason !== undefined && soft(given([gaveWay, reason]).join(": "))),
    ]),
  );
  return [
    text(searchAnswer(record)),
    figure({
      title: "Rates tried",
      note: "Requests per second, on a logarithmic axis, step by step. The line is the requested rate, the mark the achieved rate.",
      legend: [
        ["steps-held", "passed"],
        ["steps-gave", "failed"],
        ["steps-spoilt", "invalid: says nothing about the service"],
      ],
      picture: {
        is: "steps",
        label: `${steps.length} steps from ${rate(Math.min(...rates))} to ${rate(Math.max(...rates))} requests per second; ${highestRate === undefined ? "none passed" : `the highest that passed is ${rate(highestRate)}`}.`,
        steps,
      },
      open: true,
      table: rows,
    }),
  ];
};
