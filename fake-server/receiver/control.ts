import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import Fastify, { type FastifyInstance, type FastifyReply } from "fastify";
import type { PushPlan, ReceiverState } from "../../conformance/contract/push.ts";
import { createAccess } from "./access.ts";
import { type CertificateKind, certificateKinds } from "./certificate.ts";
import type { Ledger } from "./ledger.ts";
import { parsePlan } from "./plan.ts";
import { InvalidPlan } from "./problems.ts";

/** What the operator of a receiver can do. */
export interface Controlled {
  readonly ledger: Ledger;
  readonly journalFile: string | undefined;
  readonly state: () => ReceiverState;
  readonly follow: (plan: PushPlan) => void;
  readonly setListener: (state: "open" | "closed") => Promise<void>;
  readonly setCertificate: (kind: CertificateKind) => Promise<void>;
  readonly clear: () => void;
}

export interface ControlOptions {
  readonly host: string;
  readonly token: string;
  /** Serves the live page as well. */
  readonly page: boolean;
}

/** Input to the control interface that cannot be acted upon. */
class BadInput extends Error {
  readonly statusCode = 400;
}

const LONGEST_WAIT_MS = 60_000;
const LARGEST_PLAN_BYTES = 64 * 1_048_576;
/** An event stream whose reader is this far behind is closed; a browser asks again from where it was. */
const MOST_UNREAD_BYTES = 8 * 1_048_576;

export const buildControl = (
  controlled: Controlled,
  { host, token, page }: ControlOptions,
): FastifyInstance => {
  const { ledger } = controlled;
  const app = Fastify({ forceCloseConnections: true, bodyLimit: LARGEST_PLAN_BYTES });
  const allowed = createAccess(host, token);
  app.addHook("onRequest", async (request, reply) => {
    const { authorization, origin, host: named } = request.headers;
    // The page's own files hold no data, and a browser sends no token when it opens an address.
    if (page && request.method === "GET" && (await sendPage(request.url, reply))) return reply;
    if (allowed({ authorization, host: named, origin })) return undefined;
    return reply
      .code(401)
      .header("www-authenticate", "Bearer")
      .send({ error: "the receiver's token is needed: Authorization: Bearer TOKEN" });
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) =>
    reply.code(error instanceof InvalidPlan ? 400 : (error.statusCode ?? 500)).send({
      error: error.message,
      ...(error instanceof InvalidPlan ? { problems: error.problems } : {}),
    }),
  );
  app.get("/state", () => controlled.state());
  app.get("/pushes", async (request, reply) => {
    const after = wholeIn(request.query, "after", 0, Number.MAX_SAFE_INTEGER);
    const limit = wholeIn(request.query, "limit", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    const gone = new AbortController();
    reply.raw.once("close", () => gone.abort());
    await ledger.waitFor(after, wholeIn(request.query, "wait", 0, LONGEST_WAIT_MS), gone.signal);
    return reply.type("application/json").send(Readable.from(linesDocument(ledger, after, limit)));
  });
  app.get("/events", (request, reply) => {
    const seen = request.headers["last-event-id"];
    const query = seen === undefined ? request.query : { after: seen };
    void sendEvents(ledger, wholeIn(query, "after", 0, Number.MAX_SAFE_INTEGER), reply);
  });
  app.get("/journal", (_request, reply) => {
    const file = controlled.journalFile;
    reply.type("application/x-ndjson").header("content-disposition", 'attachment; filename="pushes.jsonl"');
    return reply.send(
      file === undefined ? Readable.from(linesText(ledger)) : createReadStream(file, { encoding: "utf8" }),
    );
  });
  app.put("/plan", (request) => {
    const plan = parsePlan(request.body);
    controlled.follow(plan);
    return { rules: plan.rules.length };
  });
  app.post("/listener", (request) => {
    const state = choiceIn(request.body, "state", ["open", "closed"] as const);
    return controlled.setListener(state).then(() => ({ state }));
  });
  app.put("/certificate", (request) => {
    const kind = choiceIn(request.body, "kind", certificateKinds);
    if (controlled.state().callbackUrl.startsWith("http:"))
      throw new BadInput("kind: the receiver speaks plain HTTP and shows no certificate");
    return controlled.setCertificate(kind).then(() => ({ kind }));
  });
  app.post("/clear", (_request, reply) => {
    controlled.clear();
    return reply.code(204).send();
  });
  return app;
};

const sendPage = async (url: string, reply: FastifyReply): Promise<boolean> => {
  const { answerPage } = await import("./page/serve.ts");
  const answer = await answerPage(url.replace(/\?.*$/s, ""));
  if (answer === undefined) return false;
  await reply.code(answer.status).headers(answer.headers).send(answer.body);
  return true;
};

/** The lines are JSON already: they are joined, never parsed, and never all in memory. */
async function* linesDocument(ledger: Ledger, after: number, limit: number): AsyncGenerator<string> {
  const last = ledger.last();
  let separator = `{"last":${last},"lines":[`;
  for await (const lines of ledger.read(after, last, limit)) {
    if (lines.length === 0) continue;
    yield separator + lines.join(",");
    separator = ",";
  }
  yield separator === "," ? "]}" : `${separator}]}`;
}

async function* linesText(ledger: Ledger): AsyncGenerator<string> {
  for await (const lines of ledger.read(0, ledger.last(), Number.MAX_SAFE_INTEGER))
    if (lines.length > 0) yield `${lines.join("\n")}\n`;
}

/** Server-sent events: each line as one event, its number as the event's id. */
const sendEvents = async (ledger: Ledger, after: number, reply: FastifyReply): Promise<void> => {
  reply.hijack();
  const stream = reply.raw;
  stream.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  let sent = after;
  const send = (n: number, text: string): void => {
    if (n <= sent) return;
    sent = n;
    stream.write(`id: ${n}\ndata: ${text}\n\n`);
    if (stream.writableLength > MOST_UNREAD_BYTES) stream.destroy();
  };
  stream.flushHeaders();
  for (let upTo = ledger.last(); sent < upTo && !stream.destroyed; upTo = ledger.last()) {
    for await (const lines of ledger.read(sent, upTo, Number.MAX_SAFE_INTEGER))
      for (const line of lines) {
        send(Number(/"n":(\d+)/.exec(line.slice(0, 64))?.[1] ?? 0), line);
        if (stream.writableNeedDrain) await drained(stream);
      }
    sent = Math.max(sent, upTo);
  }
  if (stream.destroyed) return;
  const unsubscribe = ledger.subscribe(send);
  stream.once("close", unsubscribe);
};

const drained = (stream: FastifyReply["raw"]): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.once("drain", done);
    stream.once("close", done);
  });

const wholeIn = (query: unknown, name: string, otherwise: number, most: number): number => {
  const text = (query as Readonly<Record<string, unknown>>)[name];
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (typeof text !== "string" || text === "" || !Number.isSafeInteger(value) || value < 0)
    throw new BadInput(`${name}: expected a whole number from 0`);
  return Math.min(value, most);
};

const choiceIn = <const Choice extends string>(
  body: unknown,
  name: string,
  choices: readonly Choice[],
): Choice => {
  const value =
    typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined;
  const choice = choices.find((one) => one === value);
  if (choice === undefined)
    throw new BadInput(
      `${name} is ${JSON.stringify(value) ?? "missing"}; accepted are ${choices.join(", ")}`,
    );
  return choice;
};
