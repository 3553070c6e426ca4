import { createHash, timingSafeEqual } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { duration } from "../../conformance/contract/duration.ts";
import { harmlessJson } from "../../conformance/contract/harmless-text.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import { isLoopback } from "../../conformance/contract/text.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import {
  type JournalMark,
  LONGEST_SILENCE_MS,
  type ReceiverState,
  runHeader,
} from "../../conformance/contract/push.ts";
import { controlApp } from "../serving.ts";
import type { Answering } from "./answering.ts";
import { certificateKinds, type Certificates } from "./certificate.ts";
import type { ReceiverClock } from "./clock.ts";
import type { Connections } from "./connections.ts";
import type { EventLog } from "./event-log.ts";
import type { Listener } from "./listener.ts";
import { parsePlan } from "./plan.ts";

export interface Controlled {
  readonly clock: ReceiverClock;
  readonly log: EventLog;
  readonly answering: Answering;
  readonly listener: Listener;
  readonly connections: Connections;
  /** Undefined over plain HTTP. */
  readonly certificates: Certificates | undefined;
  readonly callbackUrl: string;
}

export interface ControlOptions {
  readonly host: string;
  readonly token: string;
  readonly page: boolean;
}

const LARGEST_PLAN_BYTES = 64 * 1_048_576;

export const buildControl = (controlled: Controlled, options: ControlOptions): FastifyInstance => {
  const app = controlApp(LARGEST_PLAN_BYTES);
  const allowed = accessTo(options);
  app.addHook("onRequest", async (request, reply) => {
    const { authorization, origin, host } = request.headers;
    // The page's own files hold no data, and browsers send no token when opening an address.
    if (options.page && request.method === "GET" && (await sendPage(request.url, reply))) return reply;
    if (allowed({ authorization, host, origin })) return undefined;
    return reply
      .code(401)
      .header("www-authenticate", "Bearer")
      .send({ error: "the receiver's token is required: Authorization: Bearer TOKEN" });
  });
  addUse(app, controlled.clock);
  addLines(app, controlled.log);
  addChanges(app, controlled);
  return app;
};

interface Caller {
  readonly authorization: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/**
 * Decides who may use the control interface: any caller with the token, or without a token any caller on this machine
 * if the interface is bound to loopback. Pages of other sites in a local browser are refused: their requests name
 * another origin or, after DNS rebinding, another host.
 */
const accessTo = (bound: ControlOptions): ((caller: Caller) => boolean) => {
  const expected = digest(`Bearer ${bound.token}`);
  const isOpen = isLoopback(bound.host);
  return ({ authorization, host = "", origin }) => {
    if (authorization !== undefined) return timingSafeEqual(digest(authorization), expected);
    const isHere = isLoopback(host.replace(/:\d+$/, ""));
    return isOpen && isHere && (origin === undefined || origin === `http://${host}`);
  };
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const sendPage = async (url: string, reply: FastifyReply): Promise<boolean> => {
  const { answerPage } = await import("./page/serve.ts");
  const answer = await answerPage(url.replace(/\?.*$/s, ""));
  if (answer === undefined) return false;
  await reply.headers(answer.headers).send(answer.body);
  return true;
};

/**
 * One run at a time uses a receiver: its plan, its listener and its certificate are the same for all pushes, so what one
 * run changes looks like the service's doing to another.
 */
export const createUse = ({ nowMs }: Pick<ReceiverClock, "nowMs">) => {
  let user: { readonly run: string; readonly calledMs: number } | undefined;
  const replaced = new Set<string>();
  return {
    /** Why this run may not call; undefined if it may. It then uses the receiver. */
    refusal: (run: string): string | undefined => {
      const calledMs = nowMs();
      if (replaced.has(run)) return "another run began to use it";
      if (user !== undefined && user.run !== run) {
        const silentMs = calledMs - user.calledMs;
        if (silentMs < LONGEST_SILENCE_MS)
          return `another run uses it, which last called ${duration(Math.round(silentMs))} ago`;
        replaced.add(user.run);
      }
      user = { run, calledMs };
      return undefined;
    },
    end: (): void => {
      user = undefined;
    },
  };
};

/** Refuses the calls of a run while another one uses the receiver. Calls by hand name no run. */
const addUse = (app: FastifyInstance, clock: ReceiverClock): void => {
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

const LONGEST_WAIT_MS = 60_000;
/** Lines per chunk of an answer. */
const LINES_AT_ONCE = 1_000;

const addLines = (app: FastifyInstance, log: EventLog): void => {
  app.get("/pushes", async ({ query }, reply) => {
    const after = wholeIn(query, "after", 0);
    const limit = wholeIn(query, "limit", Number.MAX_SAFE_INTEGER);
    const waitMs = Math.min(wholeIn(query, "wait", 0), LONGEST_WAIT_MS);
    const closed = new AbortController();
    // With a reason, as an error is made without one, for each answer.
    reply.raw.once("close", () => closed.abort("closed"));
    await log.waitFor(after, waitMs, closed.signal);
    return reply.type("application/json").send(Readable.from(linesDocument(log, after, limit)));
  });
};

const wholeIn = (query: unknown, name: string, otherwise: number): number => {
  const text = fieldOf(query, name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (typeof text !== "string" || text === "" || !Number.isSafeInteger(value) || value < 0)
    throw new ConfigurationError(`${name} is ${JSON.stringify(text)}; accepted is a whole number from 0`);
  return value;
};

/** The lines are JSON already, so they are joined without parsing. */
function* linesDocument(log: EventLog, after: number, limit: number): Generator<string> {
  const last = log.last();
  yield `{"epoch":"${log.epoch}","last":${last},"lines":[`;
  let [from, left] = [after, limit];
  while (from < last && left > 0) {
    const lines = log.read(from, last, Math.min(left, LINES_AT_ONCE));
    if (lines.length === 0) break;
    yield (left === limit ? "" : ",") + harmlessJson(lines.join(","));
    left -= lines.length;
    from = numberOf(lines.at(-1) ?? "");
  }
  yield "]}";
}

/** The number of a line, without parsing it. */
const numberOf = (line: string): number => Number(/"n":(\d+)/.exec(line.slice(0, 64))?.[1] ?? NaN);

/** The state, and all its changes; a change returns the moment from which it applies. */
const addChanges = (app: FastifyInstance, controlled: Controlled): void => {
  const { log, answering, certificates, listener, connections, callbackUrl } = controlled;
  app.get("/state", (): ReceiverState => {
    const ca = certificates?.caPem === undefined ? {} : { ca: certificates.caPem };
    return { callbackUrl, ...ca, ...markOf(controlled), listening: listener.listening() };
  });
  app.get("/plan", () => answering.plan());
  app.put("/plan", (request) => {
    const plan = parsePlan(request.body);
    answering.follow(plan);
    return { rules: plan.rules.length, ...markOf(controlled) };
  });
  app.delete("/hangs", () => {
    for (const end of answering.hangs) end();
    return markOf(controlled);
  });
  app.post("/listener", (request) => {
    const state = choiceIn(request.body, "state", ["open", "closed"] as const);
    return setListener(controlled, state).then((mark) => ({ state, ...mark }));
  });
  app.put("/certificate", (request) => {
    const kind = choiceIn(request.body, "kind", certificateKinds);
    if (certificates === undefined)
      throw new ConfigurationError("kind: the receiver speaks plain HTTP and shows no certificate");
    return certificates.of(kind).then(async (certificate) => {
      listener.show(certificate);
      await connections.retire();
      return { kind, ...markOf(controlled) };
    });
  });
  app.post("/clear", (_request, reply) => {
    answering.clear();
    log.clear();
    return reply.code(204).send();
  });
};

const markOf = ({ clock, log, connections }: Controlled): JournalMark => ({
  epoch: log.epoch,
  last: log.lastNumbered(),
  lastConnection: connections.lastId(),
  nowMs: clock.nowMs(),
});

/** Pushes on connections accepted earlier may still complete after the listener is closed. */
const setListener = async (controlled: Controlled, state: "open" | "closed"): Promise<JournalMark> => {
  const { clock, log, listener, connections } = controlled;
  if (listener.listening() === (state === "open")) return markOf(controlled);
  if (state === "open") await listener.open();
  else {
    listener.close();
    await connections.retire();
  }
  log.record({ kind: "listener", atMs: clock.nowMs(), state });
  return markOf(controlled);
};

const choiceIn = <const Choice extends string>(
  body: unknown,
  name: string,
  choices: readonly Choice[],
): Choice => {
  const value = fieldOf(body, name);
  const choice = choices.find((one) => one === value);
  if (choice === undefined)
    throw new ConfigurationError(
      `${name} is ${JSON.stringify(value) ?? "missing"}; accepted are ${choices.join(", ")}`,
    );
  return choice;
};
