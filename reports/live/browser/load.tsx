import type { LoadBreach, SecondLine } from "../../../conformance/contract/load-record.ts";
import { breachesIn, requestsIn } from "../../../conformance/contract/second-counts.ts";
import { elapsed, figure, latency, percent, rate, plural } from "../../text/figures.ts";
import { exchangesUnderLoad } from "../../text/breach.ts";
import { bucketsOf, MOST_BUCKETS } from "../../gather/buckets.ts";
import { msOf, type LatencyPoint } from "../../gather/heat.ts";
import { latencyPicture } from "../../html/pictures/latency.ts";
import { ratePicture } from "../../html/pictures/rate.ts";
import type { LoadBegan } from "../protocol.ts";
import { Broken } from "./evidence.tsx";
import type { LiveState } from "./state.ts";

const Tile = ({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }) => (
  <div class={isBad ? "tile bad" : "tile"}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

/** The load: current second, rates, failures and latency over time, and breaches. */
export const Load = ({ state, load }: { state: LiveState; load: LoadBegan }) => {
  const { seconds, outcomes, breaches } = state;
  return (
    <section aria-labelledby="load">
      <h2 id="load">Load{outcomes.load === undefined ? "" : `: ${outcomes.load}`}</h2>
      <p class="soft">
        {load.scenario}, {load.shape}, {rate(load.rate)} requests per second at the peak,{" "}
        {elapsed(load.durationMs)}
      </p>
      <Now seconds={seconds} />
      {seconds.length > 0 && <Course load={load} state={state} />}
      {[...Map.groupBy(breaches, ({ rule }) => rule)].map(([rule, ofRule]) => (
        <BrokenRule
          key={rule}
          breaches={ofRule}
          times={seconds.reduce((times, line) => times + (line.breaches[rule] ?? 0), 0)}
        />
      ))}
    </section>
  );
};

/** A rule broken under load: its first breach, with the later ones in the record folded. */
const BrokenRule = ({ breaches, times }: { breaches: readonly LoadBreach[]; times: number }) => {
  const [first, ...later] = breaches;
  if (first === undefined) return null;
  const often = times > 1 ? `, ${figure(times)} times so far` : "";
  return (
    <>
      <OneBreach breach={first} said={`broken after ${elapsed(first.atMs)}${often}`} />
      {later.length > 0 && (
        <details class="later">
          <summary>{plural(later.length, "later breach", "later breaches")} of this rule</summary>
          {later.map((breach, at) => (
            <OneBreach key={at} breach={breach} said={`after ${elapsed(breach.atMs)}`} />
          ))}
        </details>
      )}
    </>
  );
};

const OneBreach = ({ breach, said }: { breach: LoadBreach; said: string }) => (
  <Broken
    kind="failed"
    rule={breach.rule}
    said={said}
    expected={breach.expected}
    actual={breach.actual}
    exchanges={exchangesUnderLoad(breach)}
  />
);

/** The report's pictures over the data so far. */
const Course = ({ load, state: { seconds, heat } }: { load: LoadBegan; state: LiveState }) => {
  const span = Math.max(Math.ceil(load.durationMs / 1_000), (seconds.at(-1)?.second ?? 0) + 1);
  const bucketSeconds = Math.ceil(span / MOST_BUCKETS);
  const buckets = bucketsOf(seconds, bucketSeconds);
  const drawn = [...heat].map(([endpoint, points]) => {
    const inOrder = [...points.values()];
    return { endpoint, latest: latestOf(inOrder), points: slowestOf(inOrder, bucketSeconds) };
  });
  const rows = drawn.flatMap(({ points }) => points.flatMap((point) => point.rows.map(([row]) => row)));
  const rangeMs = [msOf(Math.min(...rows)), msOf(Math.max(...rows) + 1)] as const;
  return (
    <>
      <figure>
        <figcaption>
          Iterations per second: requested (dashed) and started; failures and breaches below
        </figcaption>
        {ratePicture({ is: "rate", seconds: span, buckets, warmUpSeconds: 0 })}
      </figure>
      {drawn.map(({ endpoint, latest, points }) => (
        <figure key={endpoint}>
          <figcaption>
            Latency of {endpoint} <span class="soft">{latest}</span>
          </figcaption>
          {latencyPicture({
            is: "latency",
            label: `Latency of ${endpoint}: ${latest}`,
            points,
            bucketSeconds,
            seconds: span,
            rangeMs,
          })}
        </figure>
      ))}
    </>
  );
};

const latestOf = (points: readonly LatencyPoint[]): string => {
  const last = points.at(-1);
  return last === undefined
    ? ""
    : `p50 ${latency(last.p50Ms)} (line), p95 ${latency(last.p95Ms)}, p99 ${latency(last.p99Ms)} in second ${last.second + 1}`;
};

/** Percentiles cannot be added: for several seconds, draws those of the slowest second and the counts of all. */
const slowestOf = (points: readonly LatencyPoint[], bucketSeconds: number): readonly LatencyPoint[] =>
  [...Map.groupBy(points, ({ second }) => Math.floor(second / bucketSeconds) * bucketSeconds)].map(
    ([second, group]) => {
      const [first] = group as [LatencyPoint];
      const known = summed.get(first);
      if (known?.of === group.length) return known.point;
      const point = sumOfGroup(second, group);
      summed.set(first, { of: group.length, point });
      return point;
    },
  );

/** An update changes only the last bucket; the sums of other buckets are cached under their first point. */
const summed = new WeakMap<LatencyPoint, { readonly of: number; readonly point: LatencyPoint }>();

const sumOfGroup = (second: number, group: readonly LatencyPoint[]): LatencyPoint => {
  const most = (of: "p50Ms" | "p95Ms" | "p99Ms" | "maxMs") => Math.max(...group.map((point) => point[of]));
  const rows = new Map<number, number>();
  for (const [row, count] of group.flatMap((point) => point.rows))
    rows.set(row, (rows.get(row) ?? 0) + count);
  const count = group.reduce((sum, point) => sum + point.count, 0);
  const latencies = {
    p50Ms: most("p50Ms"),
    p95Ms: most("p95Ms"),
    p99Ms: most("p99Ms"),
    maxMs: most("maxMs"),
  };
  return { second, rows: [...rows], count, ...latencies };
};

const Now = ({ seconds }: { seconds: readonly SecondLine[] }) => {
  const last = seconds.at(-1);
  if (last === undefined) return <p class="soft">k6 is starting.</p>;
  const { failed } = requestsIn(seconds);
  const dropped = seconds.reduce((sum, line) => sum + line.dropped, 0);
  const broken = breachesIn(seconds);
  return (
    <dl class="tiles" id="now">
      <Tile name="Second" value={figure(last.second + 1)} />
      <Tile name="Started / asked" value={`${rate(last.started)} / ${rate(last.asked)}`} />
      <Tile name="Requests/s" value={figure(requestsIn([last]).all)} />
      <Tile name="Failed" value={figure(failed)} isBad={failed > 0} />
      <Tile name="Breaches" value={figure(broken)} isBad={broken > 0} />
      <Tile name="Dropped" value={figure(dropped)} isBad={dropped > 0} />
      <Tile name="Virtual users" value={last.virtualUsers === undefined ? "–" : figure(last.virtualUsers)} />
      <Tile name="Maximum lag" value={last.lagMs === undefined ? "–" : latency(last.lagMs.maxMs)} />
      <Tile name="k6, cores" value={last.k6?.cores.toFixed(2) ?? "–"} />
      <Tile name="Collector, cores" value={last.collector?.cores.toFixed(2) ?? "–"} />
      <Tile name="Machine idle" value={last.machineIdle === undefined ? "–" : percent(last.machineIdle)} />
    </dl>
  );
};
