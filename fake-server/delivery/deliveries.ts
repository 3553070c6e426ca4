import type { PendingDeliveries } from "../behaviour.ts";
import type { Notification } from "../notifications.ts";
import type { Host } from "../server.ts";
import type { Callback, Delivery, PushOutcome, PushRequest } from "../context.ts";
import { createSender, type Sender } from "./sender.ts";
import type { DeliveryStore } from "./store.ts";
import type { Work } from "../clock.ts";

/** The service's pushes: each notification on its own schedule until it is acknowledged or given up. */
export type Deliveries = ReturnType<typeof createDeliveries>;

/** The deliveries of one service in their current state. */
interface Outbox extends Host {
  readonly store: DeliveryStore;
  readonly sender: Sender;
  readonly pending: Set<Delivery>;
  readonly underWay: Set<Delivery>;
  /** Due deliveries, in the order in which they became due. */
  readonly line: Delivery[];
  readonly inLine: Set<Delivery>;
  readonly timers: Map<Delivery, () => void>;
  readonly view: PendingDeliveries;
  callback: Callback | undefined;
  sequence: number;
  stopped: boolean;
}

/** Creates the deliveries of one service. A reset creates new ones, like a new behaviour. */
export const createDeliveries = ({ behaviour, service, counters }: Host, store: DeliveryStore) => {
  const outbox: Outbox = {
    behaviour,
    service,
    counters,
    store,
    sender: createSender(service.clock),
    pending: new Set(),
    underWay: new Set(),
    line: [],
    inLine: new Set(),
    timers: new Map(),
    view: {
      all: () => [...outbox.pending],
      count: () => outbox.pending.size,
      drop: (delivery) => finish(outbox, delivery),
      replan: (delivery) => {
        if (outbox.pending.has(delivery) && !outbox.underWay.has(delivery)) plan(outbox, delivery);
      },
    },
    callback: undefined,
    sequence: 0,
    stopped: false,
  };
  return {
    callback: () => outbox.callback,
    /** Number of notifications neither acknowledged nor given up. */
    pending: () => outbox.pending.size,
    /** Destination of all later pushes, including those of pending deliveries. */
    register: (next: Callback | undefined): void => {
      outbox.callback = next;
      store.saveCallback(next);
      serve(outbox);
    },
    /** Starts the delivery of a new notification; does nothing without a callback. */
    accept: (notification: Notification): void => accept(outbox, notification),
    /** Resumes what an earlier process left; pushes that became due meanwhile are sent immediately. */
    resume: (): void => resume(outbox),
    /** Ends every push and forgets every schedule; the store keeps its content. */
    stop: (): void => stop(outbox),
  };
};

/** Removes a delivery from the line and from the clock. */
const hold = ({ timers, line, inLine }: Outbox, delivery: Delivery): void => {
  timers.get(delivery)?.();
  timers.delete(delivery);
  if (inLine.delete(delivery)) line.splice(line.indexOf(delivery), 1);
};

const finish = (outbox: Outbox, delivery: Delivery): void => {
  hold(outbox, delivery);
  outbox.pending.delete(delivery);
  outbox.store.remove(delivery);
};

/** Schedules the next push of a delivery, or ends the delivery if none is left. */
const plan = (outbox: Outbox, delivery: Delivery): void => {
  const { behaviour, service, store } = outbox;
  const attempt = delivery.attempts.length + 1;
  const delayMs = behaviour.pushDelayMs(attempt, delivery, service);
  if (attempt > behaviour.maxPushes(delivery, service) || delayMs === Infinity)
    return finish(outbox, delivery);
  const anchorMs = behaviour.pushAnchorMs(delivery, service);
  const dueMs = Math.round(anchorMs + delayMs + behaviour.pushJitterMs(attempt, service));
  delivery.dueMs = behaviour.pushNoticedMs(dueMs, attempt, service);
  store.save(delivery);
  arrange(outbox, delivery, delivery.dueMs);
};

const arrange = (outbox: Outbox, delivery: Delivery, dueMs: number): void => {
  const { clock } = outbox.service;
  hold(outbox, delivery);
  if (dueMs <= clock.nowMs()) comeDue(outbox, delivery);
  else
    outbox.timers.set(
      delivery,
      clock.schedule(dueMs, () => comeDue(outbox, delivery)),
    );
};

const comeDue = (outbox: Outbox, delivery: Delivery): void => {
  outbox.timers.delete(delivery);
  outbox.line.push(delivery);
  outbox.inLine.add(delivery);
  serve(outbox);
};

const takeNext = ({ stopped, line, inLine, underWay, behaviour, service }: Outbox): Delivery | undefined => {
  if (stopped || line.length === 0 || underWay.size >= behaviour.pushesInFlight(service)) return undefined;
  const [next] = line.splice(behaviour.nextInLine(line), 1);
  if (next !== undefined) inLine.delete(next);
  return next;
};

const serve = (outbox: Outbox): void => {
  const to = outbox.callback;
  if (to === undefined) return;
  for (let next = takeNext(outbox); next !== undefined; next = takeNext(outbox)) {
    outbox.underWay.add(next);
    void push(outbox, next, to);
  }
};

const push = async (outbox: Outbox, delivery: Delivery, to: Callback): Promise<void> => {
  const { clock } = outbox.service;
  const work = clock.begin();
  delivery.attempts.push({ startedAtMs: clock.nowMs() });
  delete delivery.dueMs;
  // Recorded before sending, so that a push interrupted by a restart is not sent once too often.
  outbox.store.save(delivery);
  const outcome = await sendPush({ ...outbox, work }, delivery, to);
  outbox.underWay.delete(delivery);
  if (!outbox.stopped) {
    settle(outbox, delivery, outcome);
    serve(outbox);
  }
  work.done();
};

const settle = (outbox: Outbox, delivery: Delivery, outcome: PushOutcome): void => {
  const { behaviour, service, counters } = outbox;
  const attempt = delivery.attempts.at(-1);
  if (attempt !== undefined) Object.assign(attempt, { endedAtMs: service.clock.nowMs(), outcome });
  const acknowledged = behaviour.acknowledges(outcome, delivery);
  delivery.acknowledged ||= acknowledged;
  counters.pushes[acknowledged ? "acknowledged" : "failed"] += 1;
  behaviour.afterPush(outcome, delivery, outbox.view, service);
  if (!outbox.pending.has(delivery)) return;
  if (behaviour.pushesAgain(outcome, delivery, service)) plan(outbox, delivery);
  else finish(outbox, delivery);
};

const accept = (outbox: Outbox, notification: Notification): void => {
  const { behaviour, service, pending } = outbox;
  if (outbox.callback === undefined || !behaviour.pushesEvent(notification, service)) return;
  outbox.sequence += 1;
  const delivery: Delivery = {
    sequence: outbox.sequence,
    notification,
    createdAtMs: service.clock.nowMs(),
    attempts: [],
    acknowledged: false,
  };
  pending.add(delivery);
  behaviour.onNewDelivery(delivery, outbox.view, service);
  if (pending.has(delivery)) plan(outbox, delivery);
};

const resume = (outbox: Outbox): void => {
  outbox.callback = outbox.store.callback();
  for (const delivery of outbox.store.pending()) {
    outbox.sequence = Math.max(outbox.sequence, delivery.sequence);
    outbox.pending.add(delivery);
    const last = delivery.attempts.at(-1);
    if (last !== undefined && last.endedAtMs === undefined) {
      const outcome: PushOutcome = { kind: "interrupted", message: "the service was stopped" };
      Object.assign(last, { endedAtMs: last.startedAtMs, outcome });
    }
    if (delivery.dueMs === undefined) plan(outbox, delivery);
    else arrange(outbox, delivery, delivery.dueMs);
  }
};

const stop = (outbox: Outbox): void => {
  outbox.stopped = true;
  for (const cancel of outbox.timers.values()) cancel();
  outbox.timers.clear();
  outbox.pending.clear();
  outbox.line.length = 0;
  outbox.sender.close();
};

interface PushMeans extends Host {
  readonly sender: Sender;
  readonly work: Work;
}

/** Maximum number of requests per push, so that redirect loops end. */
const HOPS = 5;

/** Sends the push that a delivery has just begun, and returns its outcome. */
const sendPush = async (means: PushMeans, delivery: Delivery, callback: Callback): Promise<PushOutcome> => {
  const { behaviour, service } = means;
  const attempt = delivery.attempts.length;
  const request = behaviour.pushRequest(
    {
      url: callback.url,
      method: "POST",
      headers: behaviour.pushHeaders(delivery, attempt, service),
      body: behaviour.pushBody(delivery, attempt, service),
    },
    delivery,
    attempt,
  );
  const outcomes = await Promise.all(
    Array.from({ length: behaviour.pushCopies(delivery, attempt) }, () =>
      follow(means, delivery, callback, request),
    ),
  );
  const [only = { kind: "unreachable", message: "nothing was sent" }] = outcomes;
  if (outcomes.length <= 1) return only;
  return outcomes.find((outcome) => behaviour.acknowledges(outcome, delivery)) ?? only;
};

/** Sends a request and those that immediately follow from its answers. */
const follow = async (
  { sender, behaviour, service, counters, work }: PushMeans,
  delivery: Delivery,
  callback: Callback,
  first: PushRequest,
): Promise<PushOutcome> => {
  let request = first;
  for (let hop = 1; ; hop += 1) {
    counters.pushes.sent += 1;
    const outcome = await sender.send(request, {
      ca: callback.ca,
      checksCertificate: behaviour.checksCertificate(callback),
      keepsConnections: behaviour.keepsConnections(),
      timeoutMs: behaviour.senderTimeoutMs(delivery, service),
      timesOutInRealTime: behaviour.timesOutInRealTime(),
      work,
    });
    const next = hop < HOPS ? behaviour.requestAfter(outcome, request, delivery) : undefined;
    if (next === undefined) return outcome;
    request = next;
  }
};
