import type { PushDecisions } from "../behaviour.ts";
import type { Service } from "../context.ts";
import type { Notification } from "../notifications.ts";

/** The single address the client gave for pushes (section 4.5). */
export interface Callback {
  readonly url: string;
  /** PEM of the authority for the receiver's certificate; the system's authorities if absent. */
  readonly ca?: string;
}

/** The outcome of one request of the sender. */
export type PushOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The text behind the status in the first line. */
      readonly reason: string;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      /** As text, truncated beyond any possible length of an acknowledgement. */
      readonly body: string;
      /** In how many pieces the body came. */
      readonly pieces: number;
    }
  /** The kind of failure: `closed` before an answer began, `cut` within one, `malformed` if it was not HTTP. */
  | {
      readonly kind: PushFailure;
      readonly message: string;
      /** For an answer `cut` after its head. */
      readonly status?: number;
    };

export type PushFailure =
  | "refused"
  | "reset"
  | "closed"
  | "cut"
  | "malformed"
  | "timed-out"
  | "untrusted"
  | "unreachable"
  /** The service itself stopped during the push. */
  | "interrupted";

/** A push that was begun, in the service's time. */
interface PushAttempt {
  readonly startedAtMs: number;
  endedAtMs?: number;
  outcome?: PushOutcome;
}

/** One notification on its way to the callback. */
export interface Delivery {
  /** Order of the events, from 1. */
  readonly sequence: number;
  readonly notification: Notification;
  /** When the event was raised. */
  readonly createdAtMs: number;
  readonly attempts: PushAttempt[];
  /** When the next push is due; undefined while one is in flight. */
  dueMs?: number;
  acknowledged: boolean;
}

export interface PushRequest {
  readonly url: string;
  readonly method: string;
  /** As written on the wire; Host, Connection and the body's length are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** undefined sends none. */
  readonly body: string | undefined;
}

type Schedule = Pick<PushDecisions, "pushDelayMs" | "pushAnchorMs" | "maxPushes">;
type Anchor = PushDecisions["pushAnchorMs"];

/** The moments from which a delay may count. */
export const anchors = {
  event: ({ createdAtMs }) => createdAtMs,
  startOfLatest: ({ attempts, createdAtMs }) => attempts.at(-1)?.startedAtMs ?? createdAtMs,
  /** The end of a push is its failure: a successful push has no successor. */
  endOfLatest: ({ attempts, createdAtMs }) => attempts.at(-1)?.endedAtMs ?? createdAtMs,
  startOfFirst: ({ attempts, createdAtMs }) => attempts[0]?.startedAtMs ?? createdAtMs,
  endOfFirst: ({ attempts, createdAtMs }) => attempts[0]?.endedAtMs ?? createdAtMs,
} as const satisfies Record<string, (delivery: Delivery) => number>;

const GROWTH = 2;

/** The document's n-th delay, from 0; beyond the list each is twice the previous one ("in the same manner"). */
export const listedDelayMs = (index: number, { limits }: Service): number => {
  const { pushDelaysMs } = limits;
  const last = pushDelaysMs.length - 1;
  const beyond = Math.max(0, index - last);
  return (pushDelaysMs[Math.min(index, last)] ?? Infinity) * GROWTH ** beyond;
};

const schedule = (
  pushes: (service: Service) => number,
  delayIndex: (attempt: number) => number,
  anchor: Anchor,
): Schedule => ({
  maxPushes: (_delivery, service) => pushes(service),
  pushAnchorMs: (delivery, service) => anchor(delivery, service),
  pushDelayMs: (attempt, _delivery, service) => {
    const index = delayIndex(attempt);
    return index < 0 ? 0 : listedDelayMs(index, service);
  },
});

const cap = ({ limits }: Service): number => limits.maxPushes;
const oneMore = ({ limits }: Service): number => limits.maxPushes + 1;
const listedOnly = ({ limits }: Service): number => limits.pushDelaysMs.length;
const firstAtOnce = (attempt: number): number => attempt - 2;
const firstDelayed = (attempt: number): number => attempt - 1;

/**
 * The possible readings of section 6. R1 to R4 and R8 keep to five pushes, R5 to R7 do not. If the anchor is not the
 * event, the service chooses it.
 */
export const readings = {
  r1: (anchor: Anchor) => schedule(cap, firstAtOnce, anchor),
  r2: (anchor: Anchor) => schedule(cap, firstAtOnce, anchor),
  r3: (anchor: Anchor) => schedule(cap, firstDelayed, anchor),
  r4: () => schedule(cap, firstDelayed, anchors.event),
  r5: (anchor: Anchor) => schedule(oneMore, firstAtOnce, anchor),
  r6: (anchor: Anchor) => schedule(oneMore, firstAtOnce, anchor),
  r7: (anchor: Anchor): Schedule => ({
    ...schedule(oneMore, firstAtOnce, anchor),
    pushDelayMs: (attempt, _delivery, service) =>
      attempt === 1
        ? 0
        : Math.min(listedDelayMs(firstAtOnce(attempt), service), Math.max(...service.limits.pushDelaysMs)),
  }),
  r8: (anchor: Anchor) => schedule(listedOnly, firstDelayed, anchor),
};
