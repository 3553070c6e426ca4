/** Something to be done at a moment of the service's time. */
export interface Timer {
  readonly dueMs: number;
  /** Timers that are due at the same moment come in the order in which they were set. */
  readonly sequence: number;
  readonly task: () => void | Promise<void>;
  /** Where it stands in the heap; -1 once it is out. */
  place: number;
}

/** Timers by (due, sequence), as a binary heap: a hundred thousand pending pushes cost no more than a few each. */
export const createTimers = () => {
  const heap: Timer[] = [];

  const put = (timer: Timer, place: number): void => {
    heap[place] = timer;
    timer.place = place;
  };
  const rise = (timer: Timer, from: number): void => {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || comesBefore(parent, timer)) break;
      put(parent, place);
      place = above;
    }
    put(timer, place);
  };
  const sink = (timer: Timer, from: number): void => {
    let place = from;
    for (;;) {
      const left = heap[place * 2 + 1];
      const right = heap[place * 2 + 2];
      const child = right !== undefined && left !== undefined && comesBefore(right, left) ? right : left;
      if (child === undefined || comesBefore(timer, child)) break;
      const { place: below } = child;
      put(child, place);
      place = below;
    }
    put(timer, place);
  };

  return {
    first: (): Timer | undefined => heap[0],
    add: (timer: Timer): void => rise(timer, heap.length),
    /** Takes a timer out; one that is out already stays out. */
    remove: (timer: Timer): void => {
      const { place } = timer;
      if (place < 0) return;
      timer.place = -1;
      const last = heap.pop();
      if (last === undefined || last === timer) return;
      sink(last, place);
      rise(last, last.place);
    },
    clear: (): void => {
      for (const timer of heap) timer.place = -1;
      heap.length = 0;
    },
  };
};

const comesBefore = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.sequence < other.sequence);
