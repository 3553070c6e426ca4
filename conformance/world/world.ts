import type { Breach } from "../judging/laws/breach.ts";
import type { SeenPush, PushRun } from "../judging/pushes/trace.ts";
import type { ExchangeRecord } from "../contract/record.ts";
import type { Limits, Tolerances } from "../contract/limits.ts";
import type { Clock } from "./clock.ts";
import type { Events } from "./hooks/events.ts";
import type { Secrets } from "../contract/secrets.ts";
import type { Client, Target } from "./target.ts";
import type { NotificationSets } from "./dataset.ts";

/** Findings of the preflight, shared by all worlds. */
export interface Prepared {
  /** Notifications that are not written to while rules read them. */
  readonly notifications: NotificationSets;
  /** Validity of access tokens as stated by the service at the start of the run, in milliseconds. */
  readonly accessLifetimeMs: number;
  /** Whether a request spends most of its time on the network. */
  readonly isFar?: boolean;
  /** Whether each client was shown a list, perhaps of nothing, before any rule ran. */
  readonly isListShown?: boolean;
  /** Whether a list of nothing is refused, so that a refusal may say nothing about the token. */
  readonly refusesNothing?: boolean;
  /**
   * What an empty page says of its token, if a token that was never issued gets one, too: that it is refused, or nothing
   * because not each client is known to be shown a notification.
   */
  readonly emptyPage?: "refusal" | "undecided";
  /** Why no accessToken can be seen to end at the list: its process may not follow what moves the clock. */
  readonly unmovedList?: string;
  /** How long a push took in real time from its event to the receiver, in milliseconds; undefined if none was seen. */
  readonly pushLagMs?: number;
  /** Why the service cannot reach the receiver, if the configuration can fix that. */
  readonly unreachableReceiver?: string;
  /** What shows that the sender's retries do not follow the clock that is moved, and what to do. */
  readonly unmovedRetries?: { readonly reason: string; readonly settle: string };
  /** The result of the push run, for rules that judge it (`pushes`). */
  readonly pushRun?: PushRun;
}

export const emptyPrepared: Prepared = {
  notifications: { accounts: [], emptyAccountId: "00000000-0000-4000-8000-000000000000" },
  accessLifetimeMs: 0,
};

/** Everything a rule may touch. Each case gets its own world, whose exchanges are its evidence. */
export interface World {
  readonly limits: Limits;
  readonly tolerances: Tolerances;
  readonly prepared: Prepared;
  /** The client of the case: the run's two clients may take turns, and `secondClient` is always the other one. */
  readonly client: Client;
  /** Rules that need it say so (`needs: ["second-client"]`) and are not run without it. */
  readonly secondClient: Client | undefined;
  readonly target: Target;
  readonly clock: Clock;
  /** Creates notifications; undefined if the profile has no hook for it. */
  readonly events: Events | undefined;
  readonly secrets: Secrets;
  readonly evidence: Evidence;
}

/** The clients of the run, that of the case first. */
export const clientsOf = ({
  client,
  secondClient,
}: Pick<World, "client" | "secondClient">): readonly Client[] =>
  secondClient === undefined ? [client] : [client, secondClient];

/** The same world for a client that accepts compressed answers and sends cookies back, as common ones do. */
export const asUsual = (world: World): World => ({ ...world, target: world.target.usual() });

/** What a case may say about its evidence; its exchanges are recorded automatically. */
export interface Evidence {
  /** The token sets that valid exchanges of the run got until now, in any rule, and that section 4.2 does not allow. */
  readonly malformedTokenSets: Breach[];
  /** The numbers of the case's exchanges until now, in the order in which they ended. */
  exchanges(): readonly number[];
  addPushes(pushes: readonly SeenPush[]): void;
  /** Adds exchanges that were recorded before the case. */
  addExchanges(exchanges: readonly ExchangeRecord[]): void;
  /** Declares that the judgement does not depend on the outcome of this exchange, which got no answer. */
  ignoreLoss(exchange: number): void;
  /**
   * Records a measurement once the judgement of its case stands. If requests were lost and the case starts over, its
   * measurements are dropped.
   */
  onCommit(commit: () => void): void;
}
