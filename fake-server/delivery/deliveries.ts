import type { PendingDeliveries } from "../behaviour.ts";
import type { Notification } from "../notifications.ts";
import type { Host } from "../server.ts";
import type { Callback, Delivery, PushOutcome } from "./delivery.ts";
import { createSender } from "./sender.ts";
import { sendPush } from "./push.ts";
import type { DeliveryStore } from "./store.ts";

/** The service's pushes: each notification on a schedule of its own until it is acknowledged or given up. */
export interface Deliveries {
  /** Begins the delivery of a new notification; without a callback there is nothing to do. */
  readonly accept: (notification: Notification) => void;
  /** Where all later pushes go, those of pending deliveries included. */
  readonly register: (callback: Callback | undefined) => void;
  readonly callback: () => Callback | undefined;
  /** How many notifications are not acknowledged and not given up. */
  readonly pending: () => number;
  /** Takes up what an earlier process left; what was due meanwhile is pushed at once. */
  readonly resume: () => void;
  /** Ends every push and forgets every schedule; what the store holds stays there. */
  readonly stop: () => void;
}

/** Makes the deliveries of one service. A reset makes new ones, as it makes a new behaviour. */
export const createDeliveries = (
  { behaviour, service, counters }: Host,
  store: DeliveryStore,
): Deliveries => {
  const { clock } = service;
  const sender = createSender(clock);
  const pending = new Set<Delivery>();
  const underWay = new Set<Delivery>();
  /** Those that are due, in the order in which they came to be so. */
  const line: Delivery[] = [];
  const inLine = new Set<Delivery>();
  const timers = new Map<Delivery, () => void>();
  let callback: Callback | undefined;
  let sequence = 0;
  let stopped = false;

  /** Takes a delivery out of the line and off the clock. */
  const hold = (delivery: Delivery): void => {
    timers.get(delivery)?.();
    timers.delete(delivery);
    if (inLine.delete(delivery)) line.splice(line.indexOf(delivery), 1);
  };
  const finish = (delivery: Delivery): void => {
    hold(delivery);
    pending.delete(delivery);
    store.remove(delivery);
  };

  /** Sets the next push of a delivery, or ends it when none is to come. */
  const plan = (delivery: Delivery): void => {
    const attempt = delivery.attempts.length + 1;
    const delayMs = behaviour.pushDelayMs(attempt, delivery, service);
    if (attempt > behaviour.maxPushes(delivery, service) || delayMs === Infinity) return finish(delivery);
    const anchorMs = behaviour.pushAnchorMs(delivery, service);
    const dueMs = Math.round(anchorMs + delayMs + behaviour.pushJitterMs(attempt, service));
    delivery.dueMs = behaviour.pushNoticedMs(dueMs, attempt, service);
    store.save(delivery);
    arrange(delivery, delivery.dueMs);
  };
  const arrange = (delivery: Delivery, dueMs: number): void => {
    hold(delivery);
    if (dueMs <= clock.nowMs()) comeDue(delivery);
    else
      timers.set(
        delivery,
        clock.schedule(dueMs, () => comeDue(delivery)),
      );
  };

  const comeDue = (delivery: Delivery): void => {
    timers.delete(delivery);
    line.push(delivery);
    inLine.add(delivery);
    serve();
  };
  /** Takes the next one out of the line, where there is one and room for it. */
  const takeNext = (): Delivery | undefined => {
    if (stopped || line.length === 0 || underWay.size >= behaviour.pushesInFlight(service)) return undefined;
    const [next] = line.splice(behaviour.nextInLine(line), 1);
    if (next !== undefined) inLine.delete(next);
    return next;
  };
  const serve = (): void => {
    const to = callback;
    if (to === undefined) return;
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      underWay.add(next);
      void push(next, to);
    }
  };

  const push = async (delivery: Delivery, to: Callback): Promise<void> => {
    const work = clock.begin();
    delivery.attempts.push({ startedAtMs: clock.nowMs() });
    delete delivery.dueMs;
    // The push is on record before it is sent, so that one that a restart cuts short is not sent once too often.
    store.save(delivery);
    const outcome = await sendPush({ sender, behaviour, service, counters, work }, delivery, to);
    underWay.delete(delivery);
    if (!stopped) {
      settle(delivery, outcome);
      serve();
    }
    work.done();
  };

  const settle = (delivery: Delivery, outcome: PushOutcome): void => {
    const attempt = delivery.attempts.at(-1);
    if (attempt !== undefined) Object.assign(attempt, { endedAtMs: clock.nowMs(), outcome });
    const acknowledged = behaviour.acknowledges(outcome, delivery);
    delivery.acknowledged ||= acknowledged;
    counters.pushes[acknowledged ? "acknowledged" : "failed"] += 1;
    behaviour.afterPush(outcome, delivery, view, service);
    if (!pending.has(delivery)) return;
    if (behaviour.pushesAgain(outcome, delivery, service)) plan(delivery);
    else finish(delivery);
  };

  const view: PendingDeliveries = {
    all: () => [...pending],
    count: () => pending.size,
    drop: finish,
    replan: (delivery) => {
      if (pending.has(delivery) && !underWay.has(delivery)) plan(delivery);
    },
  };

  return {
    callback: () => callback,
    pending: () => pending.size,
    register: (next) => {
      callback = next;
      store.saveCallback(next);
      serve();
    },
    accept: (notification) => {
      if (callback === undefined || !behaviour.pushesEvent(notification, service)) return;
      sequence += 1;
      const delivery: Delivery = {
        sequence,
        notification,
        createdAtMs: clock.nowMs(),
        attempts: [],
        acknowledged: false,
      };
      pending.add(delivery);
      behaviour.onNewDelivery(delivery, view, service);
      if (pending.has(delivery)) plan(delivery);
    },
    resume: () => {
      callback = store.callback();
      for (const delivery of store.pending()) {
        sequence = Math.max(sequence, delivery.sequence);
        pending.add(delivery);
        const last = delivery.attempts.at(-1);
        if (last !== undefined && last.endedAtMs === undefined) {
          const outcome: PushOutcome = { kind: "interrupted", message: "the service was stopped" };
          Object.assign(last, { endedAtMs: last.startedAtMs, outcome });
        }
        if (delivery.dueMs === undefined) plan(delivery);
        else arrange(delivery, delivery.dueMs);
      }
    },
    stop: () => {
      stopped = true;
      for (const takeBack of timers.values()) takeBack();
      timers.clear();
      pending.clear();
      line.length = 0;
      sender.close();
    },
  };
};
