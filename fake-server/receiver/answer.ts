import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import { Readable } from "node:stream";
import type { Answered, PushAction } from "../../conformance/contract/push.ts";
import { type ReceiverClock, rounded } from "./clock.ts";
import type { Link } from "./connections.ts";

type Answer = Extract<PushAction, { kind: "answer" }>;

export interface Prepared {
  readonly status: number;
  /** The text behind the status in the first line: the usual one, except in an answer that is written otherwise. */
  readonly reason: string;
  /** Names and values in turn, as Node takes them. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** Number of filler bytes instead of a body. */
  readonly filling: number;
  /** The whole answer for readers, truncated to a bounded length. */
  readonly text: string;
}

const SHOWN_CHARACTERS = 4_096;
const FILLING = Buffer.alloc(65_536, "x");
const nothing = Buffer.alloc(0);

/** The answer to send, at least in part; undefined for no answer. */
const answerIn = (action: PushAction): Answer | undefined => {
  if (action.kind === "answer") return action;
  const begins =
    (action.kind === "hang" && action.status !== undefined) ||
    (action.kind === "close" && (action.when === "head" || action.when === "half-answer"));
  return begins ? { kind: "answer", status: action.status ?? 200 } : undefined;
};

/** Prepares the answer before the push is recorded, so that the record contains it; undefined for no answer. */
export const prepare = (
  action: PushAction,
  id: string | undefined,
  keepAlive: boolean,
  clock: ReceiverClock,
): Prepared | undefined => {
  const answer = answerIn(action);
  if (answer === undefined) return undefined;
  const { status = 200, headers: given = {} } = answer;
  const { body, type, filling } = bodyOf(answer, status, id);
  const own = Object.keys(given).map((name) => name.toLowerCase());
  const headers = [
    ...(type === undefined || own.includes("content-type") ? [] : ["content-type", type]),
    ...Object.entries(given).flat(),
    // RFC 9110, section 8.6: no length where the status has no body. Without a length, the body comes in chunks.
    ...(status === 204 || status === 304 || answer.body === "acknowledge-otherwise"
      ? []
      : ["content-length", String(body.length + filling)]),
    "date",
    clock.httpDate(),
    "connection",
    keepAlive ? "keep-alive" : "close",
  ];
  const reason = answer.body === "acknowledge-otherwise" ? "Received" : (STATUS_CODES[status] ?? "Unknown");
  const text = textOf(`HTTP/1.1 ${status} ${reason}\r\n`, headers, body, filling);
  return { status, reason, headers, body, filling, text };
};

const textOf = (line: string, headers: readonly string[], body: Buffer, filling: number): string => {
  let text = line;
  for (let index = 0; index < headers.length; index += 2)
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  text += `\r\n${body.toString("utf8", 0, SHOWN_CHARACTERS)}`;
  return filling > 0 ? `${text}${"x".repeat(Math.min(filling, 64))}` : text;
};

const json = "application/json";

/** The same acknowledgement in other words of JSON, and of HTTP. */
const otherwise = (id: string): string => `{\n  "received" : true,\n  "id" : ${JSON.stringify(id)}\n}\n`;

const bodyOf = (
  { body = "acknowledge" }: Answer,
  status: number,
  id = "",
): { body: Buffer; type?: string; filling: number } => {
  if (body === "empty" || status === 204 || status === 205 || status === 304)
    return { body: nothing, filling: 0 };
  if (typeof body === "object" && "bytes" in body)
    return { body: nothing, type: "application/octet-stream", filling: body.bytes };
  if (typeof body === "object" && "text" in body)
    return { body: Buffer.from(body.text), type: "text/plain; charset=utf-8", filling: 0 };
  if (body === "acknowledge-otherwise")
    return { body: Buffer.from(otherwise(id)), type: `${json}; charset=utf-8`, filling: 0 };
  const value =
    typeof body === "object"
      ? body.json
      : { id: body === "wrong-id" ? randomUUID() : id, received: body !== "not-received" };
  const text = JSON.stringify(value) ?? "";
  return { body: Buffer.from(text.replaceAll('"{{id}}"', JSON.stringify(id))), type: json, filling: 0 };
};

export interface Exchange {
  readonly link: Link;
  readonly response: ServerResponse;
  readonly clock: ReceiverClock;
  /** Gets, while the push is left without an answer, what ends that. */
  readonly hangs: Set<() => void>;
  /** Called once at the end of the push, unless `perform` returned it. */
  readonly ended: (answered: Answered) => void;
}

/**
 * Carries out the planned action. Returns the end of the push if it ends immediately; otherwise `ended` is called
 * later: when the answer was handed over, the connection closed, or the sender left.
 */
export const perform = (
  action: PushAction,
  prepared: Prepared | undefined,
  exchange: Exchange,
): Answered | undefined => {
  const { response, link, clock } = exchange;
  if (response.destroyed || link.raw.destroyed) return endOf("abandoned", clock);
  if (prepared !== undefined && isPlain(action)) {
    writeHead(response, prepared);
    if (action.kind === "answer" && action.body === "acknowledge-otherwise") {
      const half = Math.floor(prepared.body.length / 2);
      response.write(prepared.body.subarray(0, half));
      response.end(prepared.body.subarray(half));
    } else response.end(prepared.body);
    return endOf("sent", clock);
  }
  if (response.socket !== null) return begin(action, prepared, exchange);
  // A request has no socket until its turn on the connection: earlier requests on it are answered first.
  response.once("socket", () => {
    const answered = perform(action, prepared, exchange);
    if (answered !== undefined) exchange.ended(answered);
  });
  return undefined;
};

const writeHead = (
  response: ServerResponse,
  { status, reason, headers }: Pick<Prepared, "status" | "reason" | "headers">,
): void => {
  response.writeHead(status, reason, headers as string[]);
};

const isPlain = (action: PushAction): boolean =>
  action.kind === "answer" &&
  (action.delayMs ?? 0) === 0 &&
  action.informational === undefined &&
  !(typeof action.body === "object" && "bytes" in action.body);

const endOf = (outcome: Answered["outcome"], clock: ReceiverClock): Answered => {
  const { ms, uncertaintyMs } = clock.stamp();
  return { answeredMs: rounded(ms), uncertaintyMs: rounded(uncertaintyMs), outcome };
};

const begin = (
  action: PushAction,
  prepared: Prepared | undefined,
  exchange: Exchange,
): Answered | undefined => {
  const { response, link, clock } = exchange;
  if (action.kind === "reset") {
    // The TCP socket below TLS: resetting the TLS socket would first send a close notification.
    link.raw.resetAndDestroy();
    link.socket?.destroy();
    return endOf("reset", clock);
  }
  if (action.kind === "close") {
    if (prepared !== undefined) {
      writeHead(response, prepared);
      if (action.when === "head") response.flushHeaders();
      else response.write(prepared.body.subarray(0, Math.floor(prepared.body.length / 2)));
    }
    // Below Node's answer, which cannot write a status line without a code.
    if (action.when === "status-line") response.socket?.write("HTTP/1.1 ");
    link.socket?.destroySoon();
    return endOf("closed", clock);
  }
  const wait = untilOver(exchange);
  if (action.kind === "hang") hang(prepared, exchange, wait);
  else if (prepared !== undefined) wait.later(action.delayMs ?? 0, () => send(action, prepared, response));
  return undefined;
};

interface Wait {
  readonly later: (ms: number, task: () => void) => void;
  readonly finish: (outcome: Answered["outcome"]) => void;
}

const untilOver = ({ response, clock, ended }: Exchange): Wait => {
  let over = false;
  const cancels: (() => void)[] = [];
  const finish = (outcome: Answered["outcome"]): void => {
    if (over) return;
    over = true;
    for (const cancel of cancels) cancel();
    ended(endOf(outcome, clock));
  };
  response.once("close", () => finish(response.writableFinished ? "sent" : "abandoned"));
  return { later: (ms, task) => void cancels.push(clock.after(ms, task)), finish };
};

/** If there is a status, sends the head with the body's length, but no body. */
const hang = (
  prepared: Prepared | undefined,
  { response, link, hangs }: Exchange,
  { finish }: Wait,
): void => {
  if (prepared !== undefined) {
    writeHead(response, prepared);
    response.flushHeaders();
    return;
  }
  const end = (): void => {
    finish("closed");
    link.socket?.destroySoon();
  };
  hangs.add(end);
  response.once("close", () => hangs.delete(end));
};

const send = (action: Answer, prepared: Prepared, response: ServerResponse): void => {
  for (const early of action.informational ?? [])
    response.socket?.write(`HTTP/1.1 ${early} ${STATUS_CODES[early] ?? "Unknown"}\r\n\r\n`);
  writeHead(response, prepared);
  const { body, filling } = prepared;
  if (filling > 0) Readable.from(fillingOf(filling)).pipe(response);
  else response.end(body);
};

function* fillingOf(bytes: number): Generator<Buffer> {
  for (let left = bytes; left > 0; left -= FILLING.length) yield FILLING.subarray(0, left);
}
