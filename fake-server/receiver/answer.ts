import { randomUUID } from "node:crypto";
import { type ServerResponse, STATUS_CODES } from "node:http";
import { gzipSync } from "node:zlib";
import type { Answered, PushAction } from "../../conformance/contract/push.ts";
import type { ReceiverClock } from "./clock.ts";
import type { Link } from "./connections.ts";

type Answer = Extract<PushAction, { kind: "answer" }>;

/** An answer as it goes over the wire. */
export interface Prepared {
  readonly status: number;
  /** Names and values in turn, as Node takes them. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  /** How many bytes of filling follow in the place of a body. */
  readonly filling: number;
  /** All of it for a reader, cut to a bounded length. */
  readonly text: string;
}

const SHOWN_CHARACTERS = 4_096;
const FILLING = Buffer.alloc(65_536, "x");
const nothing = Buffer.alloc(0);

/** Works out an answer before the push is recorded, so that the record tells what is going to be said. */
export const prepare = (
  action: Answer,
  id: string | undefined,
  keepAlive: boolean,
  clock: ReceiverClock,
): Prepared => {
  const status = action.status ?? 200;
  const { body: plain, type, filling } = bodyOf(action, status, id);
  const body = action.gzip === true ? gzipSync(plain) : plain;
  const own = Object.keys(action.headers ?? {}).map((name) => name.toLowerCase());
  const headers = [
    ...(type === undefined || own.includes("content-type") ? [] : ["content-type", type]),
    ...(action.gzip === true && !own.includes("content-encoding") ? ["content-encoding", "gzip"] : []),
    ...Object.entries(action.headers ?? {}).flat(),
    // RFC 9110, section 8.6: no length where the status has no body.
    ...(status === 204 || status === 304 ? [] : ["content-length", String(body.length + filling)]),
    "date",
    clock.httpDate(),
    "connection",
    keepAlive ? "keep-alive" : "close",
  ];
  return { status, headers, body, filling, text: textOf(status, headers, plain, filling) };
};

const textOf = (status: number, headers: readonly string[], body: Buffer, filling: number): string => {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
  for (let index = 0; index < headers.length; index += 2)
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  text += `\r\n${body.toString("utf8", 0, SHOWN_CHARACTERS)}`;
  return filling > 0 ? `${text}${"x".repeat(Math.min(filling, 64))}` : text;
};

const json = "application/json";

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
  const value =
    typeof body === "object"
      ? body.json
      : { id: body === "wrong-id" ? randomUUID() : id, received: body !== "not-received" };
  const text = JSON.stringify(value) ?? "";
  return { body: Buffer.from(text.replaceAll('"{{id}}"', JSON.stringify(id))), type: json, filling: 0 };
};

/** What has to be at hand to answer one push. */
export interface Exchange {
  readonly link: Link;
  readonly response: ServerResponse;
  readonly clock: ReceiverClock;
  /** Told once how the push ended, where `perform` did not tell it. */
  readonly ended: (answered: Answered) => void;
}

/**
 * Does what the plan says. Returns the end of the push where it is at an end at once; otherwise `ended` is
 * called later: when the answer was handed over, the connection closed, or when the sender left before.
 */
export const perform = (
  action: PushAction,
  prepared: Prepared | undefined,
  exchange: Exchange,
): Answered | undefined => {
  const { response } = exchange;
  const atOnce =
    prepared !== undefined &&
    action.kind === "answer" &&
    (action.delayMs ?? 0) === 0 &&
    action.dribbleMs === undefined &&
    action.informational === undefined &&
    prepared.filling === 0;
  if (atOnce && !response.destroyed) {
    response.writeHead(prepared.status, prepared.headers as string[]);
    response.end(prepared.body);
    return endOf("sent", exchange.clock);
  }
  // Before its turn on the connection a request has no socket: earlier ones on it are answered first.
  if (response.socket === null && !response.destroyed) {
    response.once("socket", () => begin(action, prepared, exchange));
    return undefined;
  }
  let [synchronous, answered]: [boolean, Answered | undefined] = [true, undefined];
  begin(action, prepared, {
    ...exchange,
    ended: (end) => {
      if (synchronous) answered = end;
      else exchange.ended(end);
    },
  });
  synchronous = false;
  return answered;
};

const endOf = (outcome: Answered["outcome"], clock: ReceiverClock): Answered => {
  const { ms, uncertaintyMs } = clock.stamp();
  return { answeredMs: rounded(ms), uncertaintyMs: rounded(uncertaintyMs), outcome };
};

/** To the microsecond: what is beyond is noise, and long in JSON. */
export const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000;

const begin = (action: PushAction, prepared: Prepared | undefined, exchange: Exchange): void => {
  const { response, clock, link } = exchange;
  let over = false;
  const stopped: (() => void)[] = [];
  const finish = (outcome: Answered["outcome"]): void => {
    if (over) return;
    over = true;
    for (const stop of stopped) stop();
    exchange.ended(endOf(outcome, clock));
  };
  if (response.destroyed || link.raw.destroyed) {
    finish("abandoned");
    return;
  }
  response.once("close", () => finish(response.writableFinished ? "sent" : "abandoned"));
  const later = (ms: number, task: () => void): void => {
    stopped.push(
      clock.after(ms, () => {
        if (!over) task();
      }),
    );
  };
  switch (action.kind) {
    case "hang":
      // The length of a body is said, and none of it sent.
      if (prepared !== undefined) {
        response.writeHead(prepared.status, prepared.headers as string[]);
        response.flushHeaders();
      }
      if (action.forMs !== undefined)
        later(action.forMs, () => {
          finish("closed");
          link.socket?.destroySoon();
        });
      return;
    case "reset":
      finish("reset");
      // The TCP socket below TLS: a reset of the TLS socket would still say goodbye first.
      link.raw.resetAndDestroy();
      link.socket?.destroy();
      return;
    case "close":
      if (action.when === "half-answer" && prepared !== undefined) {
        response.writeHead(prepared.status, prepared.headers as string[]);
        response.write(prepared.body.subarray(0, Math.floor(prepared.body.length / 2)));
      }
      // Below Node's answer, which knows no status line without a code.
      if (action.when === "status-line") response.socket?.write("HTTP/1.1 ");
      finish("closed");
      link.socket?.destroySoon();
      return;
    case "answer":
      if (prepared !== undefined) later(action.delayMs ?? 0, () => send(action, prepared, exchange, later));
  }
};

const send = (
  action: Answer,
  { status, headers, body, filling }: Prepared,
  { response }: Exchange,
  later: (ms: number, task: () => void) => void,
): void => {
  for (const early of action.informational ?? [])
    response.socket?.write(`HTTP/1.1 ${early} ${STATUS_CODES[early] ?? "Unknown"}\r\n\r\n`);
  response.writeHead(status, headers as string[]);
  const { dribbleMs } = action;
  if (dribbleMs !== undefined) {
    const source = filling > 0 ? FILLING.subarray(0, filling) : body;
    response.flushHeaders();
    const dribble = (at: number): void => {
      response.write(source.subarray(at, at + 1));
      if (at + 1 >= source.length) response.end();
      else later(dribbleMs, () => dribble(at + 1));
    };
    dribble(0);
  } else if (filling > 0) fill(response, filling);
  else response.end(body);
};

/** Sends as many bytes as were asked for, no faster than they are taken. */
const fill = (response: ServerResponse, bytes: number): void => {
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !response.destroyed) {
      const chunk = FILLING.subarray(0, Math.min(left, FILLING.length));
      left -= chunk.length;
      if (!response.write(chunk) && left > 0) {
        response.once("drain", more);
        return;
      }
    }
    response.end();
  };
  more();
};
