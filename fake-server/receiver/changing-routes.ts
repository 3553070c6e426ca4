import { fieldOf } from "../../conformance/contract/json.ts";
import type { FastifyInstance } from "fastify";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { JournalMark, ReceiverState } from "../../conformance/contract/push.ts";
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
  /** The callback as the receiver itself reaches it, whatever names others use. */
  readonly ownUrl: string;
}

/** The state, and all its changes; a change returns the moment from which it applies. */
export const addChangingRoutes = (app: FastifyInstance, controlled: Controlled): void => {
  const { log, answering } = controlled;
  app.get("/state", () => stateOf(controlled));
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
    if (controlled.certificates === undefined)
      throw new ConfigurationError("kind: the receiver speaks plain HTTP and shows no certificate");
    return controlled.certificates.of(kind).then(async (certificate) => {
      controlled.listener.show(certificate);
      await controlled.connections.retire();
      return { kind, ...markOf(controlled) };
    });
  });
  app.post("/clear", (_request, reply) => {
    answering.clear();
    log.clear();
    return reply.code(204).send();
  });
};

export const markOf = ({ clock, log, connections }: Controlled): JournalMark => ({
  epoch: log.epoch,
  last: log.lastNumbered(),
  lastConnection: connections.lastId(),
  nowMs: clock.nowMs(),
});

const stateOf = (controlled: Controlled): ReceiverState => {
  const { callbackUrl, certificates, listener } = controlled;
  const ca = certificates?.caPem === undefined ? {} : { ca: certificates.caPem };
  return { callbackUrl, ...ca, ...markOf(controlled), listening: listener.listening() };
};

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
