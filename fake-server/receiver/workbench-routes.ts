import { fieldOf } from "../../conformance/contract/json.ts";
import { randomUUID } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Push, PushLine } from "../../conformance/contract/push.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { createSender } from "../delivery/sender.ts";
import type { PushOutcome, PushRequest } from "../pushes.ts";
import { isLoopback } from "../../conformance/contract/loopback.ts";
import { type Controlled, markOf } from "./changing-routes.ts";
import type { ReceiverClock } from "./clock.ts";
import type { EventLog } from "./event-log.ts";
import { differencesOf, valuesOf } from "./page/model/difference.ts";
import { exampleNotification, newId } from "./page/model/example.ts";
import { parseRule } from "./plan.ts";

/** For a whole exchange: a hanging answer has no end. */
const TIMEOUT_MS = 30_000;

/** What a developer does by hand: other answers, a push, a replay to another address, the differences of two pushes. */
export const addWorkbenchRoutes = (app: FastifyInstance, controlled: Controlled, isLocal: boolean): void => {
  const { answering, clock, log } = controlled;
  const { send, close } = senderWith(clock);
  app.addHook("onClose", close);

  app.get("/plan", () => answering.planner().plan());
  app.post("/rules", (request) => {
    answering.planner().add(parseRule(request.body));
    return { rules: answering.planner().plan().rules.length, ...markOf(controlled) };
  });
  app.delete("/rules", (request) => {
    const rule = parseRule({ attempts: [{ kind: "answer" }], ...(request.body as object) });
    if (!answering.planner().remove(rule))
      throw new ConfigurationError(
        `match is ${JSON.stringify(rule.match)}; accepted is the match of a rule in GET /plan, with times if the rule has it`,
      );
    return { rules: answering.planner().plan().rules.length, ...markOf(controlled) };
  });
  app.post("/test-push", (request) => {
    const body = JSON.stringify(request.body ?? exampleNotification).replaceAll(newId, randomUUID());
    const headers = { "content-type": "application/json", "user-agent": "touchstone-receive" };
    return send({ url: controlled.ownUrl, method: "POST", headers, body }).then((outcome) => ({
      body,
      outcome,
    }));
  });
  app.post("/replay", (request) => {
    const url = replayUrl(fieldOf(request.body, "url"), isLocal);
    return replayOf(pushOf(log, "push", fieldOf(request.body, "push")), url, send);
  });
  app.get("/difference", (request) => {
    const pushAt = (key: string): Push => pushOf(log, key, fieldOf(request.query, key));
    return { differences: differencesOf(pushAt("with"), pushAt("push")) };
  });
};

const pushOf = (log: EventLog, key: string, value: unknown): Push => {
  const n = Number(value);
  const [text] = Number.isSafeInteger(n) && n > 0 ? log.read(n - 1, n, 1) : [];
  const line = text === undefined ? undefined : (JSON.parse(text) as PushLine);
  if (line?.kind !== "push")
    throw new ConfigurationError(
      `${key} is ${JSON.stringify(value) ?? "missing"}; accepted is the number of a push that the receiver still has, as GET /pushes gives it`,
    );
  return line;
};

type Send = (request: PushRequest) => Promise<PushOutcome>;

const senderWith = (clock: ReceiverClock): { readonly send: Send; readonly close: () => Promise<void> } => {
  const sender = createSender({
    nowMs: clock.nowMs,
    schedule: (dueMs, task) => clock.after(dueMs - clock.nowMs(), () => void task()),
    pause: () => Promise.resolve(),
  });
  const options = {
    ca: undefined,
    // It stays on this machine, where certificates are for development.
    checksCertificate: false,
    keepsConnections: false,
    timeoutMs: TIMEOUT_MS,
    work: { moved: () => undefined, done: () => undefined },
  };
  return {
    send: (request) => sender.send(request, options),
    close: async () => sender.close(),
  };
};

/**
 * Where a push may be replayed: an address on this machine, and only if the control interface is on loopback as well,
 * so that its token does not open this machine's services to others.
 */
const replayUrl = (value: unknown, isLocal: boolean): URL => {
  if (!isLocal)
    throw new ConfigurationError(
      "a push can only be replayed if the control interface listens on loopback; start the receiver without --host",
    );
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  const host = url?.hostname.replace(/^\[(.*)\]$/, "$1") ?? "";
  if (url === undefined || !/^https?:$/.test(url.protocol) || !isLoopback(host) || url.username !== "")
    throw new ConfigurationError(
      `url is ${JSON.stringify(value) ?? "missing"}; accepted is an http or https address on this machine (127.0.0.1, [::1] or localhost), such as http://127.0.0.1:3000/webhook`,
    );
  return url;
};

/** Headers that belong to the connection on which they arrived. */
const ofConnection = /^(?:host|connection|keep-alive|content-length|transfer-encoding|expect|upgrade)$/i;
/** The record's placeholder for credentials. */
const notKept = /^‹.*not kept›$/;

const replayOf = async (push: Push, url: URL, send: Send) => {
  const { method, body, bodyBytes, bodyEncoding } = push;
  if (bodyEncoding === "base64" || Buffer.byteLength(body) !== bodyBytes)
    throw new ConfigurationError(
      `push has a body of ${bodyBytes} bytes that is not stored completely as text; accepted is a push with at most 256 KiB of UTF-8`,
    );
  const omitted = push.headers.filter(([, value]) => notKept.test(value)).map(([name]) => name);
  const sent = push.headers.filter(([name, value]) => !notKept.test(value) && !ofConnection.test(name));
  const headers = Object.fromEntries(valuesOf(sent));
  return { omitted, outcome: await send({ url: url.href, method, headers, body }) };
};
