import { useEffect, useRef } from "preact/hooks";
import { latency } from "../../text/latency.ts";
import { HEAT_ROWS, msOf, type HeatCells } from "../protocol.ts";

const ROW_PX = 5;
const MOST_COLUMNS = 600;

/** Latencies of an endpoint by second: the darker a cell, the more requests fell into it. */
export const HeatMap = ({
  endpoint,
  cells,
  span,
}: {
  endpoint: string;
  cells: ReadonlyMap<number, HeatCells>;
  span: number;
}) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const rows = [...cells.values()].flatMap(({ rows: some }) => some.map(([row]) => row));
  const low = Math.max(0, Math.min(...rows) - 1);
  const high = Math.min(HEAT_ROWS - 1, Math.max(...rows) + 1);
  const columns = Math.min(MOST_COLUMNS, span);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (canvas.current === null || context === null || context === undefined) return;
    draw(context, { cells, low, high, columns, span, colour: getComputedStyle(canvas.current).color });
  });
  const last = [...cells.values()].at(-1);
  const words =
    last === undefined
      ? ""
      : `p50 ${latency(last.p50Ms)}, p95 ${latency(last.p95Ms)}, p99 ${latency(last.p99Ms)} in second ${last.second + 1}`;
  return (
    <figure>
      <figcaption>
        Latency of {endpoint} <span class="soft">{words}</span>
      </figcaption>
      <div class="heat">
        <span class="bound top">{latency(msOf(high + 1))}</span>
        <canvas
          ref={canvas}
          width={columns}
          height={(high - low + 1) * ROW_PX}
          role="img"
          aria-label={`Latency of ${endpoint} by second: ${words}`}
        />
        <span class="bound">{latency(msOf(low))}</span>
      </div>
    </figure>
  );
};

interface Drawing {
  readonly cells: ReadonlyMap<number, HeatCells>;
  readonly low: number;
  readonly high: number;
  readonly columns: number;
  readonly span: number;
  readonly colour: string;
}

const draw = (
  context: CanvasRenderingContext2D,
  { cells, low, high, columns, span, colour }: Drawing,
): void => {
  const counts = new Map<string, number>();
  for (const { second, rows } of cells.values())
    for (const [row, count] of rows) {
      const key = `${Math.floor((second / span) * columns)},${high - row}`;
      counts.set(key, (counts.get(key) ?? 0) + count);
    }
  const most = Math.max(1, ...counts.values());
  context.clearRect(0, 0, columns, (high - low + 1) * ROW_PX);
  context.fillStyle = colour;
  for (const [key, count] of counts) {
    const [x = 0, y = 0] = key.split(",").map(Number);
    // A single slow request has to be seen beside thousands of quick ones.
    context.globalAlpha = 0.15 + 0.85 * (Math.log1p(count) / Math.log1p(most));
    context.fillRect(x, y * ROW_PX, 1, ROW_PX);
  }
};
