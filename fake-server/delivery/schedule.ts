import type { Delivery, Service } from "../context.ts";
import type { PushDecisions } from "../behaviour.ts";

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
