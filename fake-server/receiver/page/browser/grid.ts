import type { Notification } from "../model/store.ts";
import { byId } from "./dom.ts";

/** The height of a row in pixels; page.css says the same. */
const rowHeight = 40;
/** Rows kept ready above and below what is seen. */
const spare = 8;

export interface RowView {
  /** Changes whenever the row has to be drawn again. */
  readonly signature: string;
  readonly draw: () => HTMLElement;
}

export interface Grid {
  /** Shows these rows; what was seen stays where it was when rows come in above it. */
  readonly show: (rows: readonly Notification[]) => void;
  /** Draws what is seen again. */
  readonly draw: () => void;
  readonly focus: () => void;
  /** Marks the row whose details are open. */
  readonly setOpen: (key: string | undefined) => void;
}

interface Drawn {
  readonly signature: string;
  readonly element: HTMLElement;
}

/** How far each key moves the active row, given how many rows a page holds. */
const moves: Readonly<Record<string, (page: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => -Infinity,
  End: () => Infinity,
};

/**
 * A grid of any number of rows of which only those in sight exist. It is one stop for the Tab key; the arrow
 * keys move the active row, Enter opens it.
 */
export const createGrid = (
  viewOf: (notification: Notification) => RowView,
  onOpen: (notification: Notification) => void,
): Grid => {
  const grid = byId("grid", HTMLDivElement);
  const body = byId("rows", HTMLDivElement);
  const head = byId("head", HTMLDivElement);
  let rows: readonly Notification[] = [];
  let active: string | undefined;
  let open: string | undefined;
  const drawn = new Map<string, Drawn>();

  const pageSize = (): number => Math.max(1, Math.floor((grid.clientHeight - head.offsetHeight) / rowHeight));

  const range = (): [from: number, to: number] => {
    const from = Math.floor(grid.scrollTop / rowHeight) - spare;
    return [Math.max(0, from), Math.min(rows.length, from + pageSize() + 2 * spare + 2)];
  };

  const fresh = (notification: Notification): HTMLElement => {
    const view = viewOf(notification);
    const before = drawn.get(notification.key);
    if (before?.signature === view.signature) return before.element;
    const element = view.draw();
    before?.element.replaceWith(element);
    drawn.set(notification.key, { signature: view.signature, element });
    return element;
  };

  const place = (element: HTMLElement, index: number): void => {
    const key = rows[index]?.key;
    element.style.top = `${index * rowHeight}px`;
    // The head is the first row of the grid.
    element.setAttribute("aria-rowindex", String(index + 2));
    element.setAttribute("aria-selected", String(key === open));
    element.classList.toggle("active", key === active);
    element.classList.toggle("odd", (rows[index]?.number ?? 0) % 2 === 1);
    if (element.parentNode !== body) body.append(element);
  };

  const draw = (): void => {
    const [from, to] = range();
    const seen = new Set<string>();
    for (let index = from; index < to; index += 1) {
      const notification = rows[index];
      if (notification === undefined) continue;
      seen.add(notification.key);
      place(fresh(notification), index);
    }
    for (const [key, { element }] of drawn) {
      if (seen.has(key)) continue;
      element.remove();
      drawn.delete(key);
    }
    const current = active === undefined ? undefined : drawn.get(active);
    if (current === undefined) grid.removeAttribute("aria-activedescendant");
    else grid.setAttribute("aria-activedescendant", current.element.id);
  };

  const show = (next: readonly Notification[]): void => {
    const top = rows[Math.floor(grid.scrollTop / rowHeight)];
    const offset = grid.scrollTop % rowHeight;
    const scrolled = grid.scrollTop > 0;
    rows = next;
    grid.setAttribute("aria-rowcount", String(rows.length + 1));
    body.style.height = `${rows.length * rowHeight}px`;
    const moved = scrolled && top !== undefined ? rows.indexOf(top) : -1;
    if (moved !== -1) grid.scrollTop = moved * rowHeight + offset;
    draw();
  };

  const bringIntoSight = (index: number): void => {
    const top = index * rowHeight;
    const height = grid.clientHeight - head.offsetHeight;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + rowHeight > grid.scrollTop + height) grid.scrollTop = top + rowHeight - height;
  };

  const activate = (index: number): void => {
    const bounded = Math.min(Math.max(index, 0), rows.length - 1);
    active = rows[bounded]?.key;
    bringIntoSight(bounded);
    draw();
  };

  const activeIndex = (): number => rows.findIndex(({ key }) => key === active);

  grid.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = moves[event.key];
    const current = rows[activeIndex()];
    if (move !== undefined) activate(activeIndex() + move(pageSize()));
    else if ((event.key === "Enter" || event.key === " ") && current !== undefined) onOpen(current);
    else return;
    event.preventDefault();
  });

  // By place rather than by target: a row may be drawn again between the press and the release of a button.
  grid.addEventListener("click", (event) => {
    const within = event.clientY - body.getBoundingClientRect().top;
    const index = Math.floor(within / rowHeight);
    const notification = within < 0 ? undefined : rows[index];
    if (notification === undefined || event.clientY < head.getBoundingClientRect().bottom) return;
    activate(index);
    onOpen(notification);
  });

  grid.addEventListener("focus", () => {
    if (activeIndex() === -1 && rows.length > 0) activate(Math.ceil(grid.scrollTop / rowHeight));
  });
  grid.addEventListener("scroll", draw, { passive: true });
  new ResizeObserver(draw).observe(grid);

  return {
    show,
    draw,
    focus: () => grid.focus(),
    setOpen: (key) => {
      open = key;
      draw();
    },
  };
};
