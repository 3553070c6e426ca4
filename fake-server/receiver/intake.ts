import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answered, Push, PushAction } from "../../conformance/contract/push.ts";
import { perform, prepare, rounded } from "./answer.ts";
import { type Attempts, keyOf, LONGEST_NAME } from "./attempts.ts";
import type { ReceiverClock, Stamp } from "./clock.ts";
import type { Connections, Link } from "./connections.ts";
import type { Faults, LostConnection } from "./faults.ts";
import type { Ledger } from "./ledger.ts";
import type { ReceiverLimits } from "./limits.ts";
import type { Arrival, Planner } from "./planner.ts";

/** What receiving pushes needs. */
export interface Intake {
  readonly clock: ReceiverClock;
  readonly connections: Connections;
  readonly faults: Faults;
  readonly ledger: Ledger;
  readonly limits: ReceiverLimits;
  readonly attempts: Attempts;
  /** Where pushes belong. */
  readonly path: string;
  /** The plan as it stands; another one may take its place at any time. */
  readonly planner: () => Planner;
}

const BODY_CHARACTERS = 65_536;
/** How long a sender may go on sending a body that was refused before its connection is closed. */
const REFUSED_MS = 500;

/** Handles requests: reads each to its end, records it, and answers once the record is durable. */
export const createIntake = (intake: Intake) => {
  let bodiesBytes = 0;
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { connections, faults, limits } = intake;
    const link = connections.of(request.socket);
    if (link === undefined) {
      request.socket.destroy();
      return;
    }
    const first = link.first ?? link.newest;
    link.first = undefined;
    link.reading = request;
    connections.begin(link);
    const received: Received = {
      request,
      response,
      link,
      number: link.requests,
      first,
      chunks: [],
      bytes: 0,
      reading: true,
    };
    const unread = (): LostConnection | undefined => connections.lost(link.socket ?? link.raw, first.ms);
    const stopReading = (): void => {
      received.reading = false;
      bodiesBytes -= received.bytes;
    };
    const refuse = (why: string): void => {
      stopReading();
      faults.tell(
        "bodies too large",
        `${request.method} ${shortened(request.url)} on connection ${link.id}: ${why}; refused`,
        unread(),
      );
      refuseLarge(intake, received);
    };
    request.on("data", (chunk: Buffer) => {
      if (!received.reading) return;
      received.bytes += chunk.length;
      bodiesBytes += chunk.length;
      received.chunks.push(chunk);
      if (received.bytes > limits.bodyBytes) refuse(`a body of more than ${limits.bodyBytes} bytes`);
      else if (bodiesBytes > limits.bodiesBytes)
        refuse(`more than ${limits.bodiesBytes} bytes of bodies at the same time`);
    });
    request.on("end", () => {
      if (!received.reading) return;
      stopReading();
      accept(intake, received);
    });
    request.on("error", () => undefined);
    request.once("close", () => {
      if (!received.reading) return;
      stopReading();
      connections.end(link);
      faults.tell(
        "requests cut off",
        `${request.method} ${shortened(request.url)} on connection ${link.id} ended after ${received.bytes} bytes of its body, before it was complete`,
        unread(),
      );
    });
  };
};

interface Received {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly link: Link;
  /** Number of this request on its connection, from 1. */
  readonly number: number;
  readonly first: Stamp;
  chunks: Buffer[];
  bytes: number;
  reading: boolean;
}

const shortened = (target = ""): string => (target.length > 200 ? `${target.slice(0, 200)}...` : target);

/** Reads a body as JSON; undefined where it is none. */
const parse = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
};

const nameIn = (body: unknown, field: "id" | "accountId"): string | undefined => {
  if (typeof body !== "object" || body === null || !(field in body)) return undefined;
  const name = (body as Readonly<Record<string, unknown>>)[field];
  return typeof name === "string" && name.length <= LONGEST_NAME ? name : undefined;
};

const pathOf = (target: string): string => {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
};

/** Why a request is no push, as a status; undefined where it is one. */
const refusalOf = (
  intake: Intake,
  arrival: Omit<Arrival, "attempt" | "key">,
  isJson: boolean,
): number | undefined => {
  const strange: ("path" | "method")[] = [];
  if (arrival.pathname !== intake.path) strange.push("path");
  if (arrival.method !== "POST") strange.push("method");
  if (strange.length > 0 && intake.planner().expects(arrival, strange)) return undefined;
  if (strange[0] !== undefined) return strange[0] === "path" ? 404 : 405;
  return isJson ? undefined : 400;
};

const accept = (intake: Intake, received: Received): void => {
  const { request, response, link } = received;
  const body = received.chunks.length === 1 ? (received.chunks[0] as Buffer) : Buffer.concat(received.chunks);
  received.chunks = [];
  const utf8 = isUtf8(body);
  const text = utf8 ? body.toString("utf8") : "";
  const parsed = utf8 ? parse(text) : undefined;
  const target = request.url ?? "";
  const about = {
    method: request.method ?? "",
    path: target,
    pathname: pathOf(target),
    body: parsed?.value,
    notificationId: nameIn(parsed?.value, "id"),
    accountId: nameIn(parsed?.value, "accountId"),
  };
  const bodySha256 = hash("sha256", body, "hex");
  const refusal = refusalOf(intake, about, parsed !== undefined);
  const key = keyOf(about.notificationId, bodySha256);
  const attempt = refusal === undefined ? intake.attempts.next(key) : 0;
  const action: PushAction =
    refusal === undefined ? intake.planner().choose({ ...about, key, attempt }) : refusing(refusal);
  const keepAlive = response.shouldKeepAlive && !link.retired;
  const prepared = preparedFor(action, about.notificationId, keepAlive, intake.clock);
  const push: Push = {
    attempt,
    ...(about.notificationId === undefined ? {} : { notificationId: about.notificationId }),
    ...(about.accountId === undefined ? {} : { accountId: about.accountId }),
    action: refusal === undefined ? action.kind : "not-a-push",
    ...(prepared === undefined ? {} : { status: prepared.status }),
    ...stampsOf(received),
    ...bodyOf(body, utf8 ? text : undefined, bodySha256),
    ...(prepared === undefined ? {} : { answer: prepared.text }),
  };
  recordAndAnswer(intake, received, push, (ended) =>
    perform(action, prepared, { link, response, clock: intake.clock, ended }),
  );
};

const preparedFor = (
  action: PushAction,
  id: string | undefined,
  keepAlive: boolean,
  clock: ReceiverClock,
) => {
  if (action.kind === "answer") return prepare(action, id, keepAlive, clock);
  if (action.kind === "hang" && action.status !== undefined)
    return prepare({ kind: "answer", status: action.status }, id, keepAlive, clock);
  return action.kind === "close" && action.when === "half-answer"
    ? prepare({ kind: "answer" }, id, keepAlive, clock)
    : undefined;
};

const refusing = (status: number): Extract<PushAction, { kind: "answer" }> => ({
  kind: "answer",
  status,
  ...(status === 405 ? { headers: { allow: "POST" } } : {}),
  body: {
    json: {
      error:
        { 400: "the body is not JSON", 404: "no push belongs here", 405: "a push is a POST" }[status] ??
        "refused",
    },
  },
});

/** Records a push; what `answer` does begins when the record is durable, and never where it is not. */
const recordAndAnswer = (
  { ledger, connections }: Intake,
  { link }: Received,
  push: Push,
  answer: (ended: (answered: Answered) => void) => Answered | undefined,
): void => {
  ledger.recordPush(
    push,
    (n) => {
      const answered = answer((later) => {
        connections.end(link);
        ledger.recordAnswered(n, later);
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
  const body = Buffer.concat(received.chunks);
  received.chunks = [];
  const prepared = prepare(
    { kind: "answer", status: 413, body: { json: { error: "the body is too large" } } },
    undefined,
    false,
    intake.clock,
  );
  const bodySha256 = hash("sha256", body, "hex");
  const push: Push = {
    attempt: 0,
    action: "too-large",
    status: 413,
    ...stampsOf(received),
    ...bodyOf(body, isUtf8(body) ? body.toString("utf8") : undefined, bodySha256),
    answer: prepared.text,
  };
  recordAndAnswer(intake, received, push, (ended) => {
    // What still comes is read and dropped for a moment, so that the sender gets to see the answer.
    request.resume();
    intake.clock.after(REFUSED_MS, () => link.raw.destroy());
    return perform({ kind: "answer" }, prepared, { link, response, clock: intake.clock, ended });
  });
};

const stampsOf = ({ request, link, first, number }: Received) => ({
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
});

const bodyOf = (body: Buffer, text: string | undefined, bodySha256: string) => ({
  bodyBytes: body.length,
  bodySha256,
  body:
    text === undefined
      ? body.toString("base64", 0, (BODY_CHARACTERS / 4) * 3)
      : text.length > BODY_CHARACTERS
        ? text.slice(0, BODY_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "")
        : text,
  bodyEncoding: text === undefined ? ("base64" as const) : ("utf8" as const),
});

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
