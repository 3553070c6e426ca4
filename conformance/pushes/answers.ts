import type { PushAction } from "../contract/push.ts";
import { hash32 } from "../contract/random.ts";

type Answer = Extract<PushAction, { kind: "answer" }>;
type Body = Answer["body"];

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

/** What gateways and frameworks put into failing answers: none of it makes them anything else. */
const failingBodies: Readonly<Record<string, Pick<Answer, "body" | "headers">>> = {
  "a page of HTML": {
    headers: { "content-type": "text/html" },
    body: { text: "<!DOCTYPE html>\n<html><body><h1>An error occurred.</h1></body></html>\n" },
  },
  text: { body: { text: "An error occurred." } },
  "no body": { body: "empty" },
  null: { body: { json: null } },
  "a list": { body: { json: [] } },
  "a text in JSON": { body: { json: "An error occurred." } },
  "an error in JSON": { body: { json: { error: { code: 1 } } } },
  "100,000 bytes": { body: { bytes: 100_000 } },
};

/**
 * The n-th kind of failure with one of these bodies, unless it has a body or a header of its own; the seed decides
 * which.
 */
export const withFailingBody = (
  [kind, failure]: readonly [kind: string, failure: PushAction],
  n: number,
  seed: number,
): readonly [kind: string, failure: PushAction] => {
  const says = Object.keys(failingBodies).at((n + (seed >>> 0)) % Object.keys(failingBodies).length) ?? "";
  return failure.kind === "answer" && failure.body === undefined && failure.headers === undefined
    ? [`${kind} with ${says}`, { ...failure, ...failingBodies[says] }]
    : [kind, failure];
};
