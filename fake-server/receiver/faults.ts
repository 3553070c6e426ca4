import type { LostStage } from "../../conformance/contract/push.ts";
import { type ReceiverClock, rounded } from "./clock.ts";
import type { EventLog } from "./event-log.ts";

/** A connection that ended before a push could be read from it. */
export interface LostConnection {
  readonly stage: LostStage;
  readonly address?: string | undefined;
  readonly openedMs: number;
}

/**
 * Records faults on the wire: the first of a kind immediately, those of the next second in one line. `kind` groups
 * faults that differ only in details; lost connections are also grouped by stage and address.
 */
export type ReportFault = (kind: string, message: string, lost?: LostConnection) => void;

const GROUP_MS = 1_000;
const MOST_MOMENTS = 100;
/** With more groups at once, faults are no longer distinguished by address. */
const MOST_GROUPS = 200;

interface Group {
  readonly kind: string;
  readonly lost: Omit<LostConnection, "openedMs"> | undefined;
  count: number;
  openedMs: number[];
}

export const createFaults = (log: EventLog, clock: ReceiverClock): ReportFault => {
  const groups = new Map<string, Group>();
  const record = (message: string, { lost, count, openedMs }: Group): void => {
    const { stage, address } = lost ?? {};
    const from = address === undefined ? {} : { address };
    const about = stage === undefined ? {} : { lost: { stage, ...from, count, openedMs } };
    log.record({ kind: "fault", atMs: clock.nowMs(), message, ...about });
  };
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
  return (kind, message, lost) => {
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
  };
};
