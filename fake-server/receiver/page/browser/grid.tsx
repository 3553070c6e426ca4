import type { RefObject, ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Progress } from "../model/progress.ts";
import type { Notification } from "../model/store.ts";
import { AxisLabels, Timeline, type Axis } from "./timeline.tsx";
import { clockTime, count, seconds } from "../model/format.ts";

/** Rows rendered above and below the visible ones. */
const spare = 8;
/** Height of the head in pixels; must match page.css. */
const headHeight = 32;

export interface GridProps {
  readonly rows: readonly Notification[];
  readonly progressOf: (notification: Notification) => Progress;
  readonly axis: Axis;
  readonly nowMs: number;
  /** Key of the row whose details are open. */
  readonly openKey: string | undefined;
  readonly onOpen: (notification: Notification) => void;
  readonly gridRef: RefObject<HTMLDivElement | null>;
}

/** How far each key moves the active row, given the number of rows per page. */
const moves: Readonly<Record<string, (page: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => -Infinity,
  End: () => Infinity,
};

const columns = [
  ["first", "First push"],
  ["what", "Notification"],
  ["account", "Account"],
  ["state", "State"],
  ["pushes", "Pushes"],
  ["gaps", "Gaps, s"],
] as const;

const Head = ({ axis }: { axis: Axis }) => (
  <div class="head" role="rowgroup">
    <div class="row" role="row" aria-rowindex={1}>
      {columns.map(([name, title]) => (
        <div key={name} class={`cell ${name}`} role="columnheader">
          {title}
        </div>
      ))}
      <div class="cell time" role="columnheader" id="axis">
        <span class="hidden">Time since the first push</span>
        <AxisLabels {...axis} />
      </div>
    </div>
  </div>
);

/** Scroll position and visible height of the grid. */
const useScroll = (gridRef: RefObject<HTMLDivElement | null>) => {
  const [scroll, setScroll] = useState({ top: 0, height: 0 });
  const look = (): void => {
    const grid = gridRef.current;
    if (grid !== null) setScroll({ top: grid.scrollTop, height: grid.clientHeight - headHeight });
  };
  useEffect(() => {
    const observer = new ResizeObserver(look);
    if (gridRef.current !== null) observer.observe(gridRef.current);
    return () => observer.disconnect();
  }, []);
  return { ...scroll, look };
};

/** Prints every row, not only the visible ones. */
const usePrinting = (): boolean => {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    addEventListener("beforeprint", () => setPrinting(true));
    addEventListener("afterprint", () => setPrinting(false));
  }, []);
  return isPrinting;
};

/** Keeps the visible rows in place when rows are inserted above. */
const useSteadyRows = (
  gridRef: RefObject<HTMLDivElement | null>,
  rows: readonly Notification[],
  scrollTop: number,
): void => {
  const before = useRef(rows);
  useLayoutEffect(() => {
    const top = scrollTop > 0 ? before.current[Math.floor(scrollTop / rowHeight)] : undefined;
    before.current = rows;
    const moved = top === undefined ? -1 : rows.indexOf(top);
    if (moved !== -1 && gridRef.current !== null)
      gridRef.current.scrollTop = moved * rowHeight + (scrollTop % rowHeight);
  }, [rows]);
};

/** The active row of the keyboard: how to set it, and what keys do. */
const useActiveRow = ({ rows, onOpen, gridRef }: GridProps, height: number) => {
  const [activeKey, setActiveKey] = useState<string>();
  const activeIndex = rows.findIndex(({ key }) => key === activeKey);
  const activate = (index: number): void => {
    const grid = gridRef.current;
    const bounded = Math.min(Math.max(index, 0), rows.length - 1);
    setActiveKey(rows[bounded]?.key);
    const top = bounded * rowHeight;
    if (grid === null) return;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + rowHeight > grid.scrollTop + height) grid.scrollTop = top + rowHeight - height;
  };
  const press = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = moves[event.key];
    const current = rows[activeIndex];
    if (move !== undefined) activate(activeIndex + move(rowsIn(height)));
    else if ((event.key === "Enter" || event.key === " ") && current !== undefined) onOpen(current);
    else return;
    event.preventDefault();
  };
  return { active: rows[activeIndex], activate, press };
};

const rowsIn = (height: number): number => Math.max(1, Math.floor(height / rowHeight));

/**
 * A grid of any number of rows, of which only the visible ones are rendered. It is one stop for the Tab key; the arrow
 * keys move the active row, Enter opens it.
 */
export const Grid = (props: GridProps) => {
  const { rows, progressOf, axis, nowMs, openKey, onOpen, gridRef } = props;
  const { top, height, look } = useScroll(gridRef);
  const { active, activate, press } = useActiveRow(props, height);
  useSteadyRows(gridRef, rows, top);
  const isPrinting = usePrinting();
  const from = isPrinting ? 0 : Math.max(0, Math.floor(top / rowHeight) - spare);
  const seen = isPrinting ? rows : rows.slice(from, from + rowsIn(height) + 2 * spare + 2);
  const isActiveSeen = active !== undefined && seen.includes(active);
  return (
    <div
      id="grid"
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label="Notifications"
      aria-rowcount={rows.length + 1}
      {...(isActiveSeen ? { "aria-activedescendant": `row-${active.number}` } : {})}
      ref={gridRef}
      onKeyDown={press}
      onFocus={() => active === undefined && rows.length > 0 && activate(Math.ceil(top / rowHeight))}
      onScroll={look}
    >
      <Head axis={axis} />
      <div id="rows" class="rows" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {seen.map((notification, index) => (
          <Row
            key={notification.key}
            notification={notification}
            progress={progressOf(notification)}
            axis={axis}
            nowMs={nowMs}
            index={from + index}
            isActive={notification === active}
            isOpen={notification.key === openKey}
            onClick={() => {
              activate(from + index);
              onOpen(notification);
            }}
          />
        ))}
      </div>
    </div>
  );
};

/** Height of a row in pixels; must match page.css. */
const rowHeight = 40;

interface RowProps {
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

/** Time between consecutive pushes in seconds; deviations from the schedule are marked. */
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

const Row = ({ notification, progress, axis, nowMs, index, isActive, isOpen, onClick }: RowProps) => {
  const { id, accountId, attempts, more, number, summary } = notification;
  const first = attempts[0]?.startMs ?? nowMs;
  const title = [id, accountId === undefined ? undefined : `account ${accountId}`].filter(Boolean).join("\n");
  return (
    <div
      role="row"
      class={`row${isActive ? " active" : ""}${number % 2 === 1 ? " odd" : ""}`}
      id={`row-${number}`}
      // The head is the grid's first row.
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
