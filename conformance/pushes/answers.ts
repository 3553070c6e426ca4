import type { PushAction } from "../contract/push.ts";
import { hash32 } from "../contract/random.ts";

type Body = Extract<PushAction, { kind: "answer" }>["body"];

/** Statuses that receivers, gateways and frameworks commonly answer with, and that senders treat specially. */
export const usualStatuses = [
  400, 401, 404, 405, 408, 409, 410, 413, 422, 429, 500, 501, 502, 503, 504,
] as const;

/** Each run also tries some of the other error statuses, so that a service cannot be tuned to the list above. */
const otherStatuses = {
  client: [402, 403, 406, 411, 412, 414, 415, 416, 417, 418, 423, 424, 426, 428, 431, 451],
  server: [505, 506, 507, 508, 510, 511],
} as const;

/** Statuses drawn by the seed in addition to the usual ones: two 4xx and one 5xx. */
export const drawnStatuses = (seed: number): readonly number[] => {
  const { client, server } = otherStatuses;
  const draw = (from: readonly number[], name: string): number =>
    from[(hash32(`${seed}:${name}`) >>> 0) % from.length] ?? 400;
  return [...new Set([draw(client, "one"), draw(client, "another"), draw(server, "of the server")])];
};

/** Wrong acknowledgement bodies, sent with the expected code. */
export const wrongBodies: Readonly<Record<string, Body>> = {
  "another id": "wrong-id",
  "received: false": "not-received",
  "no body": "empty",
  "no JSON": { text: "received" },
  "an array": { json: [] },
  "no id": { json: { received: true } },
  "no received": { json: { id: "{{id}}" } },
  "received as text": { json: { id: "{{id}}", received: "true" } },
  "received as number": { json: { id: "{{id}}", received: 1 } },
};

/** The wrong bodies that contain nothing of an acknowledgement. */
export const saysNothing: readonly string[] = ["no body", "no JSON"];
