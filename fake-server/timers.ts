/** A task for a moment of the service's time. */
export interface Timer {
  readonly dueMs: number;
  /** Timers due at the same moment fire in order of creation. */
  readonly sequence: number;
  readonly task: () => void | Promise<void>;
}

/** Timers by (due, sequence). Most are added at the end and taken at the front, which costs almost nothing. */
export const createTimers = () => {
  const sorted: Timer[] = [];
  /** Index of the next timer: those before it were removed, and are dropped in bulk. */
  let front = 0;
  const placeOf = (timer: Timer): number => {
    let [low, high] = [front, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (comesBefore(sorted[middle] ?? timer, timer)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return {
    first: (): Timer | undefined => sorted[front],
    add: (timer: Timer): void => void sorted.splice(placeOf(timer), 0, timer),
    /** Removes a timer; does nothing if already removed. */
    remove: (timer: Timer): void => {
      const place = placeOf(timer);
      if (sorted[place] !== timer) return;
      if (place > front) sorted.splice(place, 1);
      else front += 1;
      if (front * 2 <= sorted.length) return;
      sorted.splice(0, front);
      front = 0;
    },
    clear: (): void => {
      sorted.length = 0;
      front = 0;
    },
  };
};

const comesBefore = (one: Timer, other: Timer): boolean =>
  one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.sequence < other.sequence);
