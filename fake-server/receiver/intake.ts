import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Answered,
  KEPT_CHARACTERS,
  type Push,
  type PushAction,
} from "../../conformance/contract/push.ts";
import { perform, prepare, type Prepared } from "./answer.ts";
import { type Answering, requestOf } from "./answering.ts";
import { rounded, type ReceiverClock, type Stamp } from "./clock.ts";
import type { Connections, ReceiverLimits, Link } from "./connections.ts";
import type { EventLog, LostConnection, ReportFault } from "./event-log.ts";
import { isUtf8 } from "node:buffer";
import { parseJson } from "../../conformance/contract/json.ts";
import { pathIn } from "../../conformance/contract/text.ts";

export interface Intake {
  readonly clock: ReceiverClock;
  readonly connections: Connections;
  readonly reportFault: ReportFault;
  readonly log: EventLog;
  readonly limits: ReceiverLimits;
  readonly answering: Answering;
  readonly path: string;
}

/** How long a sender may continue sending a refused body before its connection is closed. */
const REFUSED_MS = 500;

export const createIntake = (intake: Intake) => {
  const { connections } = intake;
  /** Bytes of bodies being read, on all connections. */
  const reading = { bytes: 0 };
  return (request: IncomingMessage, response: ServerResponse): void => {
    const link = connections.of(request.socket);
    if (link === undefined) {
      request.socket.destroy();
      return;
    }
    const first = link.first ?? link.newest;
    link.first = undefined;
    link.reading = request;
    connections.begin(link);
    readBody(intake, reading, {
      request,
      response,
      link,
      number: link.requests,
      first,
      chunks: [],
      bytes: 0,
    });
  };
};

const readBody = (intake: Intake, reading: { bytes: number }, received: Received): void => {
  const { connections, limits, reportFault } = intake;
  const { request, link, first, chunks } = received;
  let isReading = true;
  const name = `${request.method} ${shortened(request.url)} on connection ${link.id}`;
  const unread = (): LostConnection | undefined => connections.lost(link.socket ?? link.raw, first.ms);
  const stop = (): void => {
    isReading = false;
    reading.bytes -= received.bytes;
  };
  const refuse = (why: string): void => {
    stop();
    reportFault("bodies too large", `${name}: ${why}; refused`, unread());
    refuseLarge(intake, received);
  };
  request.on("data", (chunk: Buffer) => {
    if (!isReading) return;
    received.bytes += chunk.length;
    reading.bytes += chunk.length;
    chunks.push(chunk);
    if (received.bytes > limits.bodyBytes) refuse(`a body of more than ${limits.bodyBytes} bytes`);
    else if (reading.bytes > limits.bodiesBytes)
      refuse(`more than ${limits.bodiesBytes} bytes of bodies in flight`);
  });
  request.on("end", () => {
    if (!isReading) return;
    stop();
    accept(intake, received);
  });
  request.on("error", () => undefined);
  request.once("close", () => {
    if (!isReading) return;
    stop();
    connections.end(link);
    const message = `${name} ended after ${received.bytes} bytes of its body, before it was complete`;
    reportFault("requests cut off", message, unread());
  });
};

const shortened = (target = ""): string => (target.length > 200 ? `${target.slice(0, 200)}...` : target);

/** The whole body; the chunks are released, so that no large body is held twice. */
const taken = ({ chunks }: Received): Buffer => {
  const [only] = chunks;
  const body = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
  chunks.length = 0;
  return body;
};

const accept = (intake: Intake, received: Received): void => {
  const { answering, clock } = intake;
  const { request, response, link } = received;
  const body = taken(received);
  const text = textOf(body);
  const bodySha256 = hash("sha256", body, "hex");
  const parsed = text === undefined ? undefined : parseJson(text);
  const asked = requestOf(parsed, bodySha256);
  const { notificationId, accountId } = asked;
  const refusal = refusalOf(intake, request, parsed);
  const attempt = refusal === undefined ? answering.nextAttempt(asked) : 0;
  const action: PushAction =
    refusal === undefined ? answering.choose({ ...asked, attempt }) : refusing(refusal);
  const keepAlive = response.shouldKeepAlive && !link.retired;
  const prepared = prepare(action, notificationId, keepAlive, clock);
  const push: Push = {
    attempt,
    ...(notificationId === undefined ? {} : { notificationId }),
    ...(accountId === undefined ? {} : { accountId }),
    action: refusal === undefined ? action.kind : "not-a-push",
    ...factsOf(received, body, text, bodySha256, prepared),
  };
  recordAndAnswer(intake, received, push, (ended) =>
    perform(action, prepared, { link, response, clock, hangs: answering.hangs, ended }),
  );
};

const refusals = {
  400: "the body is not JSON",
  404: "this path receives no pushes",
  405: "a push must be a POST",
} as const;

/** Why a request is not a push, as a status; undefined if it is one. */
const refusalOf = (
  { path }: Intake,
  { method, url = "" }: IncomingMessage,
  body: unknown,
): keyof typeof refusals | undefined => {
  if (pathIn(url) !== path) return 404;
  if (method !== "POST") return 405;
  return body === undefined ? 400 : undefined;
};

const refusing = (status: keyof typeof refusals): PushAction => ({
  kind: "answer",
  status,
  ...(status === 405 ? { headers: { allow: "POST" } } : {}),
  body: { json: { error: refusals[status] } },
});

/** The answer begins when the record is stored, and never if it cannot be. */
const recordAndAnswer = (
  { log, connections }: Intake,
  { link }: Received,
  push: Push,
  answer: (ended: (answered: Answered) => void) => Answered | undefined,
): void => {
  log.recordPush(
    push,
    (n) => {
      const answered = answer((later) => {
        connections.end(link);
        log.record({ kind: "answered", push: n, ...later });
      });
      if (answered !== undefined) connections.end(link);
      return answered;
    },
    () => {
      connections.end(link);
      link.raw.destroy();
    },
  );
};

const refuseLarge = (intake: Intake, received: Received): void => {
  const { request, response, link } = received;
  const body = taken(received);
  const action = { kind: "answer", status: 413, body: { json: { error: "the body is too large" } } } as const;
  const prepared = prepare(action, undefined, false, intake.clock);
  const facts = factsOf(received, body, textOf(body), hash("sha256", body, "hex"), prepared);
  recordAndAnswer(intake, received, { attempt: 0, action: "too-large", ...facts }, (ended) => {
    // Reads and drops the rest for a moment, so that the sender sees the answer.
    request.resume();
    intake.clock.after(REFUSED_MS, () => link.raw.destroy());
    return perform(action, prepared, {
      link,
      response,
      clock: intake.clock,
      hangs: intake.answering.hangs,
      ended,
    });
  });
};

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly link: Link;
  /** Number of this request on its connection, from 1. */
  readonly number: number;
  readonly first: Stamp;
  readonly chunks: Buffer[];
  bytes: number;
}

/** A body as text; undefined if it is not UTF-8. */
const textOf = (body: Buffer): string | undefined => (isUtf8(body) ? body.toString("utf8") : undefined);

const factsOf = (
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
  body: text === undefined ? body.toString("base64", 0, (KEPT_CHARACTERS / 4) * 3) : cut(text),
  bodyEncoding: text === undefined ? "base64" : "utf8",
  ...(prepared === undefined ? {} : { answer: prepared.text }),
});

const cut = (text: string): string =>
  text.length > KEPT_CHARACTERS ? text.slice(0, KEPT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "") : text;

const pairs = (raw: readonly string[]): (readonly [string, string])[] => {
  const lines: (readonly [string, string])[] = [];
  for (let index = 0; index < raw.length; index += 2)
    lines.push([raw[index] ?? "", kept(raw[index] ?? "", raw[index + 1] ?? "")]);
  return lines;
};

const isCredential = /^(?:(?:proxy-)?authorization|cookie)$/i;

/** Authentication headers are not stored, only their length: people and tools read the journal. */
const kept = (name: string, value: string): string =>
  isCredential.test(name) ? `‹${name.toLowerCase()}, ${value.length} characters, not kept›` : value;
