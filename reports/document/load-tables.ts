import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { elapsed, plural, figure as number, latency, percent, rate } from "../text/figures.ts";
import { knownRequirement } from "../text/titles.ts";
import type { LoadOptions } from "./run.ts";
import {
  code,
  lines,
  mark,
  soft,
  table,
  text,
  type Block,
  type Fact,
  type Look,
  type Table,
} from "./model.ts";

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
    ["Rule", ">Checks", ">Breaches", detail === "full" ? "What it says" : ""],
    rules.map(({ id, checks, breaches, note: remark }) => {
      const [look, word] = ruleLook(checks, breaches);
      const sentence = detail === "full" ? knownRequirement(id)?.sentence : undefined;
      return [
        mark(look, code(id), word),
        number(checks),
        number(breaches),
        lines(sentence, remark !== undefined && soft(remark)),
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
