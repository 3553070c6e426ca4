import { harmlessJson } from "../../conformance/contract/harmless-text.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { FastifyInstance, FastifyReply } from "fastify";
import { controlApp } from "../serving.ts";
import { runHeader } from "../../conformance/contract/push.ts";
import { isLoopback } from "../../conformance/contract/loopback.ts";
import { createAccess } from "./access.ts";
import { createUse } from "./use.ts";
import { addChangingRoutes, type Controlled } from "./changing-routes.ts";
import { addWorkbenchRoutes } from "./workbench-routes.ts";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { EventLog } from "./event-log.ts";

export interface ControlOptions {
  readonly host: string;
  readonly token: string;
  readonly page: boolean | undefined;
  readonly journal: string | undefined;
}

const LARGEST_PLAN_BYTES = 64 * 1_048_576;

export const buildControl = (controlled: Controlled, options: ControlOptions): FastifyInstance => {
  const app = controlApp(LARGEST_PLAN_BYTES);
  const allowed = createAccess(options.host, options.token);
  app.addHook("onRequest", async (request, reply) => {
    const { authorization, origin, host: named } = request.headers;
    // The page's own files hold no data, and browsers send no token when opening an address.
    if (options.page === true && request.method === "GET" && (await sendPage(request.url, reply)))
      return reply;
    if (allowed({ authorization, host: named, origin })) return undefined;
    return reply
      .code(401)
      .header("www-authenticate", "Bearer")
      .send({ error: "the receiver's token is required: Authorization: Bearer TOKEN" });
  });
  addUse(app, controlled.clock);
  addReadingRoutes(app, controlled.log, options.journal);
  addChangingRoutes(app, controlled);
  addWorkbenchRoutes(app, controlled, isLoopback(options.host));
  return app;
};

/** Refuses the calls of a run while another one uses the receiver. Calls by hand name no run. */
const addUse = (app: FastifyInstance, clock: Controlled["clock"]): void => {
  const use = createUse(clock);
  app.addHook("onRequest", async (request, reply) => {
    const run = request.headers[runHeader];
    const refusal = typeof run === "string" ? use.refusal(run) : undefined;
    return refusal === undefined ? undefined : reply.code(409).send({ error: refusal });
  });
  app.delete("/use", (_request, reply) => {
    use.end();
    return reply.code(204).send();
  });
};

const sendPage = async (url: string, reply: FastifyReply): Promise<boolean> => {
  const { answerPage } = await import("./page/serve.ts");
  const answer = await answerPage(url.replace(/\?.*$/s, ""));
  if (answer === undefined) return false;
  await reply.code(answer.status).headers(answer.headers).send(answer.body);
  return true;
};

const LONGEST_WAIT_MS = 60_000;
/** Lines per chunk of an answer. */
const LINES_AT_ONCE = 1_000;

const addReadingRoutes = (app: FastifyInstance, log: EventLog, journalFile: string | undefined): void => {
  app.get("/pushes", async (request, reply) => {
    const after = wholeIn(request.query, "after", 0, Number.MAX_SAFE_INTEGER);
    const limit = wholeIn(request.query, "limit", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
    const waitMs = wholeIn(request.query, "wait", 0, LONGEST_WAIT_MS);
    await log.waitFor(after, waitMs, untilClosed(reply));
    return reply.type("application/json").send(Readable.from(linesDocument(log, after, limit)));
  });
  app.get("/events", (request, reply) => {
    const seen = request.headers["last-event-id"];
    const query = seen === undefined ? request.query : { after: seen };
    const after = wholeIn(query, "after", 0, Number.MAX_SAFE_INTEGER);
    reply.type("text/event-stream").header("cache-control", "no-store");
    return reply.send(Readable.from(events(log, after, untilClosed(reply))));
  });
  app.get("/journal", (_request, reply) => {
    reply.type("application/x-ndjson").header("content-disposition", 'attachment; filename="pushes.jsonl"');
    return reply.send(
      journalFile === undefined ? Readable.from(linesText(log)) : createReadStream(journalFile),
    );
  });
};

const untilClosed = ({ raw }: FastifyReply): AbortSignal => {
  const closed = new AbortController();
  // With a reason, as an error is made without one, for each answer.
  raw.once("close", () => closed.abort("closed"));
  return closed.signal;
};

function* linesOf(
  log: EventLog,
  after: number,
  upTo: number,
  limit = Infinity,
): Generator<readonly string[]> {
  let [from, left] = [after, limit];
  while (from < upTo && left > 0) {
    const lines = log.read(from, upTo, Math.min(left, LINES_AT_ONCE));
    if (lines.length === 0) return;
    yield lines;
    left -= lines.length;
    from = numberOf(lines.at(-1) ?? "");
  }
}

/** The number of a line, without parsing it. */
const numberOf = (line: string): number => Number(/"n":(\d+)/.exec(line.slice(0, 64))?.[1] ?? NaN);

/** The lines are JSON already, so they are joined without parsing. */
function* linesDocument(log: EventLog, after: number, limit: number): Generator<string> {
  const last = log.last();
  let separator = `{"epoch":"${log.epoch}","last":${last},"lines":[`;
  for (const lines of linesOf(log, after, last, limit)) {
    yield separator + harmlessJson(lines.join(","));
    separator = ",";
  }
  yield separator === "," ? "]}" : `${separator}]}`;
}

function* linesText(log: EventLog): Generator<string> {
  for (const lines of linesOf(log, 0, log.last())) yield `${lines.join("\n")}\n`;
}

/** Server-sent events: each line is one event, with its number as the event's id. */
async function* events(log: EventLog, after: number, closed: AbortSignal): AsyncGenerator<string> {
  // A comment, so that the reader gets an answer before the first line.
  yield ":\n\n";
  let sent = after;
  while (!closed.aborted) {
    await log.waitFor(sent, LONGEST_WAIT_MS, closed);
    const upTo = log.last();
    for (const lines of linesOf(log, sent, upTo))
      yield lines.map((line) => `id: ${numberOf(line)}\ndata: ${harmlessJson(line)}\n\n`).join("");
    sent = Math.max(sent, upTo);
  }
}

const wholeIn = (query: unknown, name: string, otherwise: number, most: number): number => {
  const text = fieldOf(query, name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (typeof text !== "string" || text === "" || !Number.isSafeInteger(value) || value < 0)
    throw new ConfigurationError(`${name} is ${JSON.stringify(text)}; accepted is a whole number from 0`);
  return Math.min(value, most);
};
