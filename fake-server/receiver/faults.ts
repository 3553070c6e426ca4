import type { LostStage } from "../../conformance/contract/push.ts";
import { rounded } from "./answer.ts";
import type { ReceiverClock } from "./clock.ts";
import type { Ledger } from "./ledger.ts";

/** A connection that was over before a push could be read from it. */
export interface LostConnection {
  readonly stage: LostStage;
  readonly address?: string | undefined;
  readonly openedMs: number;
}

/** Tells of what went wrong on the wire: the first of a kind at once, those of the next second in one line. */
export interface Faults {
  /** `kind` groups what differs only in its details; lost connections are grouped by their stage and address as well. */
  readonly tell: (kind: string, message: string, lost?: LostConnection) => void;
}

const GROUP_MS = 1_000;
const MOST_MOMENTS = 100;
/** Whoever comes from more addresses than this within a second is told of without them. */
const MOST_GROUPS = 200;

interface Group {
  readonly kind: string;
  readonly lost: Omit<LostConnection, "openedMs"> | undefined;
  count: number;
  openedMs: number[];
}

export const createFaults = (ledger: Ledger, clock: ReceiverClock): Faults => {
  const groups = new Map<string, Group>();
  const record = (message: string, { lost, count, openedMs }: Group): void =>
    ledger.record({
      kind: "fault",
      atMs: clock.nowMs(),
      message,
      ...(lost === undefined
        ? {}
        : {
            lost: {
              stage: lost.stage,
              ...(lost.address === undefined ? {} : { address: lost.address }),
              count,
              openedMs,
            },
          }),
    });
  const open = (key: string, { kind, lost }: Group): void => {
    const group: Group = { kind, lost, count: 0, openedMs: [] };
    groups.set(key, group);
    clock.after(GROUP_MS, () => {
      groups.delete(key);
      if (group.count === 0) return;
      record(`${group.count} more within a second: ${kind}`, group);
      open(key, group);
    });
  };
  return {
    tell: (kind, message, lost) => {
      const address = groups.size < MOST_GROUPS ? lost?.address : undefined;
      const key = lost === undefined ? kind : `${kind} ${lost.stage} ${address ?? ""}`;
      const group = groups.get(key);
      if (group !== undefined) {
        group.count += 1;
        if (lost !== undefined && group.openedMs.length < MOST_MOMENTS)
          group.openedMs.push(rounded(lost.openedMs));
        return;
      }
      const first: Group = {
        kind,
        lost: lost === undefined ? undefined : { stage: lost.stage, address },
        count: 1,
        openedMs: lost === undefined ? [] : [rounded(lost.openedMs)],
      };
      record(message, first);
      open(key, first);
    },
  };
};
