import type { SecondLine } from "../../../conformance/contract/load-record.ts";
import { elapsed, figure } from "../../text/figures.ts";
import { latency, percent } from "../../text/latency.ts";
import { safe } from "../../text/safe.ts";
import { rate } from "../../text/units.ts";
import type { LoadBegan } from "../protocol.ts";
import { HeatMap } from "./heat.tsx";
import { Lines } from "./lines.tsx";
import { Evidence } from "./evidence.tsx";
import type { LiveState } from "./state.ts";

const sumOf = (line: SecondLine, of: "granted" | "refused" | "failed"): number =>
  Object.values(line.requests).reduce((sum, counts) => sum + counts[of], 0);
const breachesIn = ({ breaches }: SecondLine): number =>
  Object.values(breaches).reduce((sum, count) => sum + count, 0);
const total = (lines: readonly SecondLine[], of: (line: SecondLine) => number): number =>
  lines.reduce((sum, line) => sum + of(line), 0);

const Tile = ({ name, value, isBad = false }: { name: string; value: string; isBad?: boolean }) => (
  <div class={isBad ? "tile bad" : "tile"}>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
);

/** The load: this second in figures, rates, failures and latency over time, and what broke. */
export const Load = ({ state, load }: { state: LiveState; load: LoadBegan }) => {
  const { seconds, outcomes, heat, breaches } = state;
  const span = Math.max(Math.ceil(load.durationMs / 1_000), (seconds.at(-1)?.second ?? 0) + 1);
  return (
    <section aria-labelledby="load">
      <h2 id="load">Load{outcomes.load === undefined ? "" : `: ${outcomes.load}`}</h2>
      <p class="soft">
        {load.scenario}, {load.shape}, {rate(load.rate)} requests a second at the peak,{" "}
        {elapsed(load.durationMs)}
      </p>
      <Now seconds={seconds} />
      <Lines
        title="Iterations a second"
        span={span}
        series={[
          { name: "asked", points: seconds.map(({ second, asked }) => [second, asked]) },
          { name: "started", points: seconds.map(({ second, started }) => [second, started]) },
        ]}
      />
      <Lines
        title="Failed, dropped and broken, a second"
        span={span}
        series={[
          { name: "failed", points: seconds.map((line) => [line.second, sumOf(line, "failed")]) },
          { name: "dropped", points: seconds.map(({ second, dropped }) => [second, dropped]) },
          { name: "broken", points: seconds.map((line) => [line.second, breachesIn(line)]) },
        ]}
      />
      {[...heat].map(([endpoint, cells]) => (
        <HeatMap key={endpoint} endpoint={endpoint} cells={cells} span={span} />
      ))}
      {breaches.map(({ rule, atMs, expected, actual, exchanges }, at) => (
        <article key={at} class="card failed">
          <h3>
            <code>{rule}</code> broken after {elapsed(atMs)}
          </h3>
          <dl>
            <dt>Expected</dt>
            <dd>{safe(expected)}</dd>
            <dt>Seen</dt>
            <dd>{safe(actual)}</dd>
          </dl>
          <Evidence
            exchanges={exchanges.map(({ method, path, requestBody, status, answer }) => ({
              method,
              path,
              body: requestBody,
              answer: `${status === 0 ? "no answer" : status}\n${answer}`,
            }))}
          />
        </article>
      ))}
    </section>
  );
};

const Now = ({ seconds }: { seconds: readonly SecondLine[] }) => {
  const last = seconds.at(-1);
  if (last === undefined) return <p class="soft">k6 is starting.</p>;
  const failed = total(seconds, (line) => sumOf(line, "failed"));
  const dropped = total(seconds, (line) => line.dropped);
  const broken = total(seconds, breachesIn);
  const requests = sumOf(last, "granted") + sumOf(last, "refused") + sumOf(last, "failed");
  return (
    <dl class="tiles" id="now">
      <Tile name="Second" value={figure(last.second + 1)} />
      <Tile name="Started / asked" value={`${rate(last.started)} / ${rate(last.asked)}`} />
      <Tile name="Requests/s" value={figure(requests)} />
      <Tile name="Failed" value={figure(failed)} isBad={failed > 0} />
      <Tile name="Breaches" value={figure(broken)} isBad={broken > 0} />
      <Tile name="Dropped" value={figure(dropped)} isBad={dropped > 0} />
      <Tile name="Virtual users" value={last.virtualUsers === undefined ? "–" : figure(last.virtualUsers)} />
      <Tile name="Late by at most" value={last.lagMs === undefined ? "–" : latency(last.lagMs.maxMs)} />
      <Tile name="k6, cores" value={last.k6 === undefined ? "–" : last.k6.cores.toFixed(2)} />
      <Tile
        name="Collector, cores"
        value={last.collector === undefined ? "–" : last.collector.cores.toFixed(2)}
      />
      <Tile name="Machine idle" value={last.machineIdle === undefined ? "–" : percent(last.machineIdle)} />
    </dl>
  );
};
