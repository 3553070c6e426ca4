import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Push } from "../../conformance/contract/push.ts";
import type { Prepared } from "./answer.ts";
import { rounded, type Stamp } from "./clock.ts";
import type { Link } from "./link.ts";

export interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly link: Link;
  /** Number of this request on its connection, from 1. */
  readonly number: number;
  readonly first: Stamp;
  readonly chunks: Buffer[];
  bytes: number;
}

const BODY_CHARACTERS = 65_536;

/** A body as text; undefined where it is not UTF-8. */
export const textOf = (body: Buffer): string | undefined =>
  isUtf8(body) ? body.toString("utf8") : undefined;

export const factsOf = (
  { request, link, first, number }: Received,
  body: Buffer,
  text: string | undefined,
  bodySha256: string,
  prepared: Prepared | undefined,
): Omit<Push, "attempt" | "action" | "notificationId" | "accountId"> => ({
  ...(prepared === undefined ? {} : { status: prepared.status }),
  firstByteMs: rounded(first.ms),
  completeMs: rounded(link.newest.ms),
  uncertaintyMs: rounded(Math.max(first.uncertaintyMs, link.newest.uncertaintyMs)),
  method: request.method ?? "",
  path: request.url ?? "",
  headers: pairs(request.rawHeaders),
  connection: {
    id: link.id,
    remotePort: link.remotePort,
    request: number,
    ...(link.tls === undefined ? {} : { tls: link.tls }),
  },
  bodyBytes: body.length,
  bodySha256,
  body: text === undefined ? body.toString("base64", 0, (BODY_CHARACTERS / 4) * 3) : cut(text),
  bodyEncoding: text === undefined ? "base64" : "utf8",
  ...(prepared === undefined ? {} : { answer: prepared.text }),
});

const cut = (text: string): string =>
  text.length > BODY_CHARACTERS ? text.slice(0, BODY_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "") : text;

const pairs = (raw: readonly string[]): (readonly [string, string])[] => {
  const lines: (readonly [string, string])[] = [];
  for (let index = 0; index < raw.length; index += 2)
    lines.push([raw[index] ?? "", kept(raw[index] ?? "", raw[index + 1] ?? "")]);
  return lines;
};

const isCredential = /^(?:(?:proxy-)?authorization|cookie)$/i;

/** What a sender proves itself by is not kept, but for how long it is: the journal is read by people and tools. */
const kept = (name: string, value: string): string =>
  isCredential.test(name) ? `‹${name.toLowerCase()}, ${value.length} characters, not kept›` : value;
