import { axisLabel, clockTime, span } from "../model/format.ts";
import { outcomeOf } from "../model/raw.ts";
import { offsetsMs, type Schedule } from "../model/schedule.ts";
import type { Progress } from "../model/progress.ts";
import { type Attempt, isAcknowledged, type Notification } from "../model/store.ts";

/** Shared by all rows: the length of the axis, and the times of the schedule if every push failed immediately. */
export interface Axis {
  readonly lengthMs: number;
  readonly instantsMs: readonly number[];
}

/** Slightly longer than the schedule, so that an excess push shows, too. */
export const axisOf = (schedule: Schedule): Axis => {
  const instantsMs = offsetsMs(schedule);
  return { instantsMs, lengthMs: (instantsMs.at(-1) ?? 0) * 1.1 };
};

/** Labels closer than this share of the axis would overlap. */
const labelRoom = 6;

/** A position on the axis in percent; values beyond are drawn at its end. */
const place = (atMs: number, lengthMs: number): number => Math.min(Math.max(atMs / lengthMs, 0), 1) * 100;

const percent = (value: number): string => `${value.toFixed(3)}%`;

/** One shape per outcome, so that colour is never the only difference. */
const shapeOf = (attempt: Attempt): { path: string; look: string } => {
  if (isAcknowledged(attempt)) return { path: "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", look: "good" };
  if (attempt.status !== undefined) return { path: "M-4 -4h8v8h-8z", look: "bad" };
  if (attempt.action === "hang") return { path: "M-4 -4v8M4 -4v8M-4 0h8", look: "open" };
  return { path: "M-4 -4l8 8M-4 4l8 -8", look: "open" };
};

const Upright = ({ kind, at }: { kind: "tick" | "now"; at: number }) => (
  <line class={kind} x1={percent(at)} x2={percent(at)} y1={0} y2="100%" />
);

interface MarkProps {
  readonly attempt: Attempt;
  readonly progress: Progress;
  readonly index: number;
  readonly lengthMs: number;
}

const Mark = ({ attempt, progress, index, lengthMs }: MarkProps) => {
  const { startMs, endMs } = progress.spans[index] ?? { startMs: 0, endMs: 0 };
  const { path, look } = shapeOf(attempt);
  const timing = progress.timings[index] ?? "on-time";
  const words = `Push ${index + 1} at ${clockTime(attempt.startMs)} (${span(startMs)}): ${outcomeOf(attempt)}`;
  const from = percent(place(startMs, lengthMs));
  return (
    <g class={`mark ${look} ${timing}${startMs > lengthMs ? " off-axis" : ""}`}>
      <title>{timing === "on-time" ? words : `${words}, ${timing.replaceAll("-", " ")}`}</title>
      <line class="held" x1={from} x2={percent(place(endMs, lengthMs))} y1="50%" y2="50%" />
      <svg x={from} y="50%" overflow="visible">
        {timing !== "on-time" && <circle class="alarm" r={8.5} />}
        <path d={path} />
      </svg>
    </g>
  );
};

interface TimelineProps {
  readonly notification: Notification;
  readonly progress: Progress;
  readonly axis: Axis;
  readonly ageMs: number;
}

export const Timeline = ({ notification, progress, axis, ageMs }: TimelineProps) => {
  const { instantsMs, lengthMs } = axis;
  const isOpen = progress.kind === "waiting" || progress.kind === "overdue";
  return (
    <svg class="timeline" aria-hidden="true">
      {instantsMs.map((at) => (
        <Upright key={at} kind="tick" at={place(at, lengthMs)} />
      ))}
      {progress.windows.slice(1).map(({ earliestMs, latestMs }, index) => {
        const from = place(earliestMs, lengthMs);
        const width = percent(Math.max(place(latestMs, lengthMs) - from, 0.4));
        return (
          <rect key={index} class="window" x={percent(from)} width={width} y="18%" height="64%" rx={2} />
        );
      })}
      {isOpen && ageMs <= lengthMs && <Upright kind="now" at={place(ageMs, lengthMs)} />}
      {notification.attempts.map((attempt, index) => (
        <Mark key={attempt.n} attempt={attempt} progress={progress} index={index} lengthMs={lengthMs} />
      ))}
    </svg>
  );
};

export const AxisLabels = ({ instantsMs, lengthMs }: Axis) => {
  let last = -labelRoom;
  const shown = instantsMs.filter((at) => {
    const left = place(at, lengthMs);
    if (left - last < labelRoom) return false;
    last = left;
    return true;
  });
  return (
    <span class="axis" aria-hidden="true">
      {shown.map((at) => (
        <span key={at} style={{ left: percent(place(at, lengthMs)) }}>
          {axisLabel(at)}
        </span>
      ))}
    </span>
  );
};
