import net from "node:net";
import tls from "node:tls";
import { DAY_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { givenUp, sameAccount } from "../changes.ts";
import type { Delivery } from "../pushes.ts";
import { change, variantRows } from "../registry.ts";

/** Opens an unused connection, like senders that dial while they wait for a free one. */
const openInVain = (url: string): void => {
  const { protocol, hostname, port } = new URL(url);
  const to = { host: hostname, port: Number(port) };
  const socket = protocol === "https:" ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect(to);
  const end = (): void => {
    socket.end();
    socket.unref();
  };
  socket.on("error", () => undefined);
  socket.once(protocol === "https:" ? "secureConnect" : "connect", end);
};

/** Odd but conforming senders (sections 4.5 and 6). */
export const oddPushVariants = variantRows({
  "push-connections-opened-in-vain: With every push, another connection is opened and closed unused.": {
    pushRequest: (request) => {
      openInVain(request.url);
      return request;
    },
  },
  "push-retries-written-otherwise: The JSON of retries is indented.": change(
    "pushBody",
    (body, _delivery, attempt) => (attempt === 1 ? body : JSON.stringify(JSON.parse(body), null, 2)),
  ),
  "push-long: Some pushes have an additional field of 70,000 characters.": change(
    "pushBody",
    (body, { notification }) =>
      /[01]$/.test(notification.id)
        ? JSON.stringify({ ...(JSON.parse(body) as object), details: "é".repeat(70_000) })
        : body,
  ),
  "push-says-text: Pushes declare a text content type.": change("pushHeaders", (fields) => ({
    ...fields,
    "content-type": "text/plain",
  })),
  "push-first-after-fifteen-seconds: The first push leaves fifteen seconds after the event.": change(
    "pushDelayMs",
    (delayMs, attempt) => (attempt === 1 ? 15 * SECOND_MS : delayMs),
  ),
  "push-account-in-turn: The events of an account are pushed one after the other, each once the one before is over.":
    (sound, waiting = new Set<Delivery>()) => ({
      onNewDelivery: (delivery, pending) => {
        if (pending.all().some((other) => other !== delivery && sameAccount(other, delivery)))
          waiting.add(delivery);
      },
      pushDelayMs: (attempt, delivery, service) =>
        waiting.has(delivery) ? 1_000 * DAY_MS : sound.pushDelayMs(attempt, delivery, service),
      afterPush: (_outcome, delivery, pending, service) => {
        if (!delivery.acknowledged && !givenUp(delivery, sound, service)) return;
        const next = [...waiting].find((other) => sameAccount(other, delivery));
        if (next === undefined) return;
        waiting.delete(next);
        pending.replan(next);
      },
    }),
  "push-one-worker: Only one push is in flight at a time, and it waits a second for its answer.": {
    pushesInFlight: () => 1,
    senderTimeoutMs: () => SECOND_MS,
  },
});
