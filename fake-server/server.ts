import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Answer, RefusalKind } from "./answer.ts";
import type { Behaviour } from "./behaviour.ts";
import { type Context, type Operation, type Service, type Counters, purge } from "./context.ts";
import { rawQueryOf, type Query, type JsonObject } from "./requests.ts";
import { authorize, list } from "./routes/authorize.ts";
import { exchange, refresh } from "./routes/exchange.ts";
import { endpointNames, endpoints } from "../conformance/contract/forms.ts";

/** A service with its decisions. A reset replaces the counters, and the behaviour with its state. */
export interface Host {
  readonly service: Service;
  counters: Counters;
  behaviour: Behaviour;
}

/**
 * Bodies up to this size are read to their end even if refused: an answer sent while the client still writes would
 * reach it as a broken connection.
 */
const BODY_READ_MAX_BYTES = 16 * 1024 * 1024;
const NO_BODY = Buffer.alloc(0);
const NO_QUERY = {};

/**
 * Builds the service's own HTTP server. Fastify only routes and reads; queries and bodies reach the behaviour raw,
 * because Fastify would repair or refuse some of them before the behaviour could decide.
 */
export const buildServer = (host: Host): FastifyInstance => {
  const { service } = host;
  const refuse = (kind: RefusalKind, request: FastifyRequest, reply: FastifyReply) => {
    const context = contextOf(service, "elsewhere", request);
    return finish(host.behaviour.renderRefusal({ kind }, context), context, reply);
  };
  const finish = async (answer: Answer, context: Context, reply: FastifyReply): Promise<FastifyReply> =>
    send(reply, await host.behaviour.finish(answer, context), host.counters);
  const app = Fastify({
    bodyLimit: BODY_READ_MAX_BYTES,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, request, reply) => {
      void refuse("not-found", request, reply);
    },
    forceCloseConnections: true,
    routerOptions: { querystringParser: () => NO_QUERY },
  });
  app.removeAllContentTypeParsers();
  // Named too, the usual type is found without a search.
  app.addContentTypeParser(["application/json", "*"], { parseAs: "buffer" }, (_request, body, done) =>
    done(null, body),
  );

  const tidy = createHousekeeper();
  for (const operation of endpointNames) {
    for (const url of host.behaviour.pathsOf(operation)) {
      app.route({
        method: endpoints[operation].method,
        url,
        handler: async (request, reply) => {
          const context = contextOf(service, operation, request);
          host.counters.requests[operation] += 1;
          const answer = await answerTo(host.behaviour, operation, request.body, context);
          tidy(host.behaviour, context);
          return finish(answer, context, reply);
        },
      });
    }
  }

  app.setNotFoundHandler((request, reply) => refuse("not-found", request, reply));
  app.setErrorHandler<{ code?: string; statusCode?: number }>((error, request, reply) => {
    if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") return refuse("body-too-large", request, reply);
    return refuse((error.statusCode ?? 500) < 500 ? "body-malformed" : "failure", request, reply);
  });
  return app;
};

const contextOf = (service: Service, operation: Context["operation"], request: FastifyRequest): Context => ({
  clients: service.clients,
  limits: service.limits,
  clock: service.clock,
  random: service.random,
  credentials: service.credentials,
  notifications: service.notifications,
  operation,
  nowMs: service.clock.nowMs(),
  from: request.raw,
});

/** The steps before every operation: latency, admission, a readable query and body. */
const answerTo = async (
  behaviour: Behaviour,
  operation: Operation,
  body: unknown,
  context: Context,
): Promise<Answer> => {
  const latencyMs = behaviour.latencyMs(context);
  if (latencyMs > 0) await context.clock.pause(latencyMs);
  const stopped = behaviour.admission(context);
  if (stopped !== undefined) return behaviour.renderRefusal(stopped, context);
  const query = behaviour.readQuery(rawQueryOf(context.from.url ?? ""), context);
  if (query === undefined) return behaviour.renderRefusal({ kind: "query-malformed" }, context);
  const wrong =
    behaviour.parametersRefusal(query, context) ??
    behaviour.contentTypeRefusal(context.from.headers["content-type"], context);
  if (wrong !== undefined) return behaviour.renderRefusal({ kind: wrong }, context);
  const answerer = answerers[operation];
  if ("query" in answerer) return answerer.query(behaviour, query, context);
  const raw = Buffer.isBuffer(body) ? body : NO_BODY;
  if (raw.length > context.limits.bodyMaxBytes) {
    return behaviour.renderRefusal({ kind: "body-too-large" }, context);
  }
  const fields = behaviour.readBody(raw, context);
  if (fields === undefined) return behaviour.renderRefusal({ kind: "body-malformed" }, context);
  return answerer.body(behaviour, fields, context);
};

type Answerer<Input> = (behaviour: Behaviour, input: Input, context: Context) => Answer | Promise<Answer>;

const answerers: Readonly<
  Record<Operation, { readonly query: Answerer<Query> } | { readonly body: Answerer<JsonObject> }>
> = {
  authorize: { query: authorize },
  exchange: { body: exchange },
  refresh: { body: refresh },
  list: { query: list },
};

const send = (reply: FastifyReply, answer: Answer, counters: Counters): FastifyReply => {
  counters.answers[answer.status] = (counters.answers[answer.status] ?? 0) + 1;
  if (answer.interim === true) {
    reply.raw.writeContinue();
    reply.raw.writeEarlyHints({ link: "</styles.css>; rel=preload" });
  }
  reply.code(answer.status).headers(answer.headers);
  if (answer.compressed === true) {
    const body = gzipSync(answer.body);
    // Fastify puts right what a header says of the length of a buffer.
    const isLengthWrong = answer.headers["content-length"] !== undefined;
    return reply.header("content-encoding", "gzip").send(isLengthWrong ? Readable.from([body]) : body);
  }
  return reply.send(answer.chunked === true ? Readable.from(piecesOf(answer.body)) : answer.body);
};

const PIECE_LENGTH = 24;
const piecesOf = (body: string): readonly string[] =>
  Array.from({ length: Math.ceil(body.length / PIECE_LENGTH) }, (_, index) =>
    body.slice(index * PIECE_LENGTH, (index + 1) * PIECE_LENGTH),
  );

/** Checked once per this many issues, so that the cost per request is negligible. */
const ISSUES_BETWEEN = 256;
/** A dead credential is remembered for one more lifetime, so that it is refused as expired rather than unknown. */
const REMEMBERED_LIFETIMES = 2;

/** Creates the function that is called with each issued credential and forgets those long dead. */
const createHousekeeper = (): ((behaviour: Behaviour, context: Context) => void) => {
  let issues = 0;
  return (behaviour, context) => {
    issues += 1;
    if (issues % ISSUES_BETWEEN !== 0) return;
    const { credentials, limits, nowMs } = context;
    const longAgo = (issuedAtMs: number, lifetimeMs: number): boolean =>
      nowMs - issuedAtMs >= lifetimeMs * REMEMBERED_LIFETIMES;
    purge(
      credentials.codes,
      (code) => longAgo(code.issuedAtMs, limits.codeLifetimeMs) && !behaviour.codeIsAlive(code, context),
    );
    purge(
      credentials.refreshTokens,
      (token) =>
        longAgo(token.issuedAtMs, limits.refreshTokenLifetimeMs) &&
        !behaviour.refreshTokenIsAlive(token, context),
    );
    purge(
      credentials.accessTokens,
      (token) => longAgo(token.issuedAtMs, token.lifetimeMs) && !behaviour.accessTokenIsAlive(token, context),
    );
  };
};
