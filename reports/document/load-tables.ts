import type { LoadBreach, LoadRecord } from "../../conformance/contract/load-record.ts";
import { elapsed, plural, figure as number, inUnit, rate, latency, percent } from "../text/figures.ts";
import { exchangesUnderLoad } from "../text/breach.ts";
import { rampAnswer } from "../../conformance/contract/load-cases.ts";
import { requirementOf } from "../text/verdicts.ts";
import type { Bucket } from "../gather/course.ts";
import type { LoadView } from "../gather/gather.ts";
import {
  code,
  facts,
  given,
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
} from "./model.ts";
import type { LoadOptions } from "./run.ts";

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
  promise: requirementOf(breach.rule).sentence,
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

export const rampBlocks = (record: LoadRecord): readonly Block[] => {
  const { breakpoint } = record;
  if (breakpoint === undefined) return [];
  const { heldTo, endedAt, gaveWay } = breakpoint;
  return [
    text(rampAnswer(record) ?? ""),
    facts([
      gaveWay && [
        "Gave way",
        `${gaveWay.name}: ${gaveWay.measured === undefined ? gaveWay.verdict : inUnit(gaveWay.measured, gaveWay.unit)}, ${gaveWay.bound} ${inUnit(gaveWay.limit, gaveWay.unit)}, over five seconds`,
      ],
      ["The ramp ended at", `${rate(endedAt)} of ${rate(record.rate)} requests per second`],
    ]),
    softText(
      heldTo === 0
        ? "The objectives below are those of the last five seconds."
        : "The objectives below are those of the last five seconds in which all of them held.",
    ),
  ];
};

/** Latencies of every endpoint: as the service took, and as waited by a caller that keeps to the schedule. */
export const endpointTable = ({ endpoints }: LoadRecord): Table | undefined =>
  table(
    "Latencies by endpoint",
    ["Endpoint", ">Requests", "Counted from", ">p50", ">p90", ">p95", ">p99", ">p99.9", ">Slowest"],
    endpoints.flatMap(({ endpoint, outcome, service, response }) =>
      (
        [
          ["scheduled start", response],
          ["sent", service],
        ] as const
      ).map(([from, one], at) => [
        at === 0 ? [endpoint, " ", soft(outcome)] : "",
        at === 0 ? number(one.count) : "",
        from,
        ...[one.p50Ms, one.p90Ms, one.p95Ms, one.p99Ms, one.p999Ms, one.maxMs].map(latency),
      ]),
    ),
  );

const ruleLook = (checks: number, breaches: number): readonly [Look, word: string] => {
  if (breaches > 0) return [["bad", "cross"], "failed"];
  return checks > 0 ? [["good", "check"], "passed"] : [["open", "dash"], "not checked"];
};

export const rulesTable = ({ rules }: LoadRecord, detail: LoadOptions["detail"]): Table | undefined =>
  table(
    "Promises under load",
    ["Rule", ">Checks", ">Breaches", ...(detail === "full" ? ["What it says"] : []), "Note"],
    rules.map(({ id, checks, breaches, note: remark }) => {
      const [look, word] = ruleLook(checks, breaches);
      return [
        mark(look, code(id), word),
        number(checks),
        number(breaches),
        ...(detail === "full" ? [requirementOf(id).sentence] : []),
        remark === undefined ? "" : soft(remark),
      ];
    }),
  );

export const pushBlocks = ({ pushes }: LoadRecord): readonly (Block | undefined)[] => {
  if (pushes === undefined) return [];
  const { events, acknowledged, attempts, deliveryDelay: delay } = pushes;
  return [
    text(
      `${plural(pushes.pushes, "push", "pushes")} for ${plural(events, "event")}, ${number(acknowledged)} of which were acknowledged (${percent(events === 0 ? 0 : acknowledged / events)}).`,
      delay === undefined || delay.count === 0
        ? ""
        : ` From its event to its first push it took ${latency(delay.p50Ms)} in the median, ${latency(delay.p95Ms)} at p95, ${latency(delay.p99Ms)} at p99, ${latency(delay.maxMs)} at most.`,
    ),
    table(
      "Notifications by number of pushes",
      ["Pushed", ">Notifications"],
      Object.entries(attempts).map(([times, count]) => [plural(Number(times), "time"), number(count)]),
    ),
  ];
};

export const environment = (record: LoadRecord): readonly (Fact | false | undefined)[] => {
  const { achieved, machine, k6 } = record;
  return [
    ["Scenario", record.scenario],
    [
      "Shape",
      `${record.shape}, ${elapsed(record.durationMs)}, ${record.warmUpMs === 0 ? "without a warm-up" : `of which ${elapsed(record.warmUpMs)} to warm up`}`,
    ],
    ["Asked for", `${rate(record.rate)} requests per second, ${rate(record.arrivalRate)} iterations`],
    record.tags !== undefined && [
      "Tags",
      Object.entries(record.tags)
        .map(([name, value]) => `${name}=${value}`)
        .join(", "),
    ],
    ["Virtual users", `at most ${number(record.virtualUsers)}`],
    achieved && [
      "Arrivals",
      `${plural(achieved.arrivals, "iteration")}, ${number(Math.round(achieved.arrivalsAsked))} asked for, ${number(achieved.dropped)} dropped`,
    ],
    achieved?.unsent !== undefined && [
      "Not sent",
      Object.entries(achieved.unsent)
        .map(([limit, count]) => `${plural(count, "request")} for lack of ${limit}`)
        .join(", "),
    ],
    achieved?.lag && [
      "Iteration start lag",
      `${latency(achieved.lag.p50Ms)} in the median, ${latency(achieved.lag.p99Ms)} at p99`,
    ],
    [
      "k6",
      [
        `${k6.version}, from ${k6.from === "cache" ? "Touchstone’s cache" : k6.from}`,
        soft(k6.exitMeaning === undefined ? "" : `; ${k6.exitMeaning} (exit code ${k6.exitCode ?? "none"})`),
      ],
    ],
    achieved?.k6Cores !== undefined && [
      "k6 used",
      `${achieved.k6Cores.toFixed(2)} cores, ${number(Math.round(achieved.k6MemoryMiB ?? 0))} MiB`,
    ],
    achieved?.collectorCores !== undefined && [
      "Used by the collector",
      `${achieved.collectorCores.toFixed(2)} cores`,
    ],
    achieved?.machineIdle !== undefined && ["Idle share of the machine", percent(achieved.machineIdle)],
    [
      record.merged === undefined ? "Machine" : "All machines together",
      `${plural(machine.cores, "core")}, ${machine.processor}, ${number(Math.round(machine.memoryMiB))} MiB, ${machine.platform}, Node ${machine.node}`,
    ],
    ["Seed", code(String(record.seed))],
    [
      "Comparable with runs of the same",
      Object.entries(record.fingerprint)
        .map(([name, value]) => `${name} ${value}`)
        .join(" · "),
    ],
  ];
};
