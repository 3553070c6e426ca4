import net from "node:net";
import tls from "node:tls";
import { type Variant, variant } from "../registry.ts";

const SECOND_MS = 1_000;

/** Opens a connection that nothing is sent on, as senders do that dial while they wait for a free one. */
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

/** Senders that are odd in ways that break nothing (sections 4.5 and 6). */
export const oddPushVariants = {
  "push-connections-opened-in-vain": variant(
    "With every push another connection is opened, and closed without a request.",
    () => ({
      pushRequest: (request) => {
        openInVain(request.url);
        return request;
      },
    }),
  ),
  "push-retries-written-otherwise": variant("Retries are indented.", (sound) => ({
    pushBody: (delivery, attempt, service) => {
      const body = sound.pushBody(delivery, attempt, service);
      return attempt === 1 ? body : JSON.stringify(JSON.parse(body), null, 2);
    },
  })),
  "push-says-text": variant("Pushes say that they are text, each time.", (sound) => ({
    pushHeaders: (delivery, attempt, service) => ({
      ...sound.pushHeaders(delivery, attempt, service),
      "content-type": "text/plain",
    }),
  })),
  "push-first-after-fifteen-seconds": variant(
    "The first push leaves fifteen seconds after the event.",
    (sound) => ({
      pushDelayMs: (attempt, delivery, service) =>
        attempt === 1 ? 15 * SECOND_MS : sound.pushDelayMs(attempt, delivery, service),
    }),
  ),
  "push-one-worker": variant(
    "One push is under way at a time, and it waits three seconds for its answer.",
    () => ({ pushesInFlight: () => 1, senderTimeoutMs: () => 3 * SECOND_MS }),
  ),
} satisfies Record<string, Variant>;
