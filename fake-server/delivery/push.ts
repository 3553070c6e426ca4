import type { Work } from "../clock.ts";
import type { Callback, Delivery, PushOutcome, PushRequest } from "../pushes.ts";
import type { Host } from "../server.ts";
import type { Sender } from "./sender.ts";

export interface PushMeans extends Host {
  readonly sender: Sender;
  readonly work: Work;
}

/** Maximum number of requests per push, so that redirect loops end. */
const HOPS = 5;

/** Sends the push that a delivery has just begun, and returns its outcome. */
export const sendPush = async (
  means: PushMeans,
  delivery: Delivery,
  callback: Callback,
): Promise<PushOutcome> => {
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
