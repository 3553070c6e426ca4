import type { ComponentChildren } from "preact";
import { clockTime, count, seconds } from "../model/format.ts";
import type { Progress } from "../model/progress.ts";
import type { Notification } from "../model/store.ts";
import { type Axis, Timeline } from "./timeline.tsx";

/** The height of a row in pixels; page.css says the same. */
export const rowHeight = 40;

export interface RowProps {
  readonly notification: Notification;
  readonly progress: Progress;
  readonly axis: Axis;
  readonly nowMs: number;
  readonly index: number;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly onClick: () => void;
}

const Cell = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div role="gridcell" class={`cell ${name}`}>
    {children}
  </div>
);

const mostGaps = 8;

/** Time between each push and the one before, in seconds; what the schedule did not expect is marked. */
const Gaps = ({ notification, progress }: Pick<RowProps, "notification" | "progress">) => {
  const { attempts, more } = notification;
  const { spans, timings } = progress;
  if (attempts.length < 2) return <span class="none">–</span>;
  return (
    <>
      {attempts.slice(1, mostGaps + 1).map(({ n }, index) => {
        const gap = (spans[index + 1]?.startMs ?? 0) - (spans[index]?.startMs ?? 0);
        const timing = timings[index + 1] ?? "on-time";
        const off = timing === "on-time" ? {} : { title: timing };
        return (
          <span key={n} class={timing === "on-time" ? "gap" : "gap off"} {...off}>
            {seconds(gap)}
          </span>
        );
      })}
      {attempts.length + more > mostGaps + 1 && <span class="none">…</span>}
    </>
  );
};

export const Row = ({ notification, progress, axis, nowMs, index, isActive, isOpen, onClick }: RowProps) => {
  const { id, accountId, attempts, more, number, summary } = notification;
  const first = attempts[0]?.startMs ?? nowMs;
  const title = [id, accountId === undefined ? undefined : `account ${accountId}`].filter(Boolean).join("\n");
  return (
    <div
      role="row"
      class={`row${isActive ? " active" : ""}${number % 2 === 1 ? " odd" : ""}`}
      id={`row-${number}`}
      // The head is the first row of the grid.
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      onClick={onClick}
      style={{ top: `${index * rowHeight}px` }}
      {...(title === "" ? {} : { title })}
    >
      <Cell name="first">{clockTime(first)}</Cell>
      <Cell name="what">
        <span class="id">{id ?? "no id"}</span>
        <span class="summary">{summary}</span>
      </Cell>
      <Cell name="account">{accountId ?? "–"}</Cell>
      <Cell name="state">
        {progress.alarms.map((alarm) => (
          <span key={alarm} class="badge alarm">
            {alarm}
          </span>
        ))}
        <span class={`badge ${progress.kind}`}>{progress.words}</span>
      </Cell>
      <Cell name="pushes">{count(attempts.length + more)}</Cell>
      <Cell name="gaps">
        <Gaps notification={notification} progress={progress} />
      </Cell>
      <Cell name="time">
        <Timeline notification={notification} progress={progress} axis={axis} ageMs={nowMs - first} />
      </Cell>
    </div>
  );
};
