import type { PushRun } from "../judging/pushes/trace.ts";
import type { NotificationSets } from "./dataset.ts";

/** What the preflight found out, and all worlds then hold. */
export interface Prepared {
  /** Notifications that are not written to while rules read them. */
  readonly notifications: NotificationSets;
  /** Validity of access tokens as the service stated it when the run began. */
  readonly accessLifetimeMs: number;
  /** Whether a request spends most of its time on the network. */
  readonly isFar?: boolean;
  /** How long a push took in real time from its event to the receiver; undefined where none was seen. */
  readonly pushLagMs?: number;
  /** Why the service cannot reach the receiver, where that is for the configuration to mend. */
  readonly unreachableReceiver?: string;
  /** What the pushes of this run came to; only rules that need them (`needs: ["pushes"]`) are given it. */
  readonly pushRun?: PushRun;
}

export const emptyPrepared: Prepared = {
  notifications: { accounts: [], emptyAccountId: "00000000-0000-4000-8000-000000000000" },
  accessLifetimeMs: 0,
};
