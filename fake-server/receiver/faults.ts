import type { ReceiverClock } from "./clock.ts";
import type { Ledger } from "./ledger.ts";

/** Tells of what went wrong on the wire: the first of a kind at once, those of the next second in one line. */
export interface Faults {
  /** `kind` groups what differs only in its details. */
  readonly tell: (kind: string, message: string) => void;
}

const GROUP_MS = 1_000;

export const createFaults = (ledger: Ledger, clock: ReceiverClock): Faults => {
  const more = new Map<string, number>();
  const record = (message: string): void => ledger.record({ kind: "fault", atMs: clock.nowMs(), message });
  const group = (kind: string): void => {
    more.set(kind, 0);
    clock.after(GROUP_MS, () => {
      const count = more.get(kind) ?? 0;
      more.delete(kind);
      if (count === 0) return;
      record(`${count} more within a second: ${kind}`);
      group(kind);
    });
  };
  return {
    tell: (kind, message) => {
      const count = more.get(kind);
      if (count !== undefined) {
        more.set(kind, count + 1);
        return;
      }
      record(message);
      group(kind);
    },
  };
};
