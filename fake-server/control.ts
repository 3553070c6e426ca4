import { X509Certificate } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { isObject } from "../conformance/contract/json.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { zeroCounters, type Callback } from "./context.ts";
import type { Deliveries } from "./delivery/deliveries.ts";
import { everything, type Notification } from "./notifications.ts";
import type { Host } from "./server.ts";
import { controlApp } from "./serving.ts";

/** What the operator of a running fake can control. */
export interface Controlled extends Host {
  readonly renewBehaviour: () => Host["behaviour"];
  /** Pushes by the current behaviour, replaced on reset. */
  deliveries: Deliveries;
  readonly renewDeliveries: () => Deliveries;
  /** Called after each step of the clock. */
  readonly stepped: (nowMs: number) => void;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const OPTIONAL_TEXTS = ["clientId", "businessType", "businessStatus", "remark", "data", "status"] as const;
/** A century: a greater step is a mistaken unit. */
const LONGEST_ADVANCE_MS = 100 * 366 * 86_400_000;

/** What the control interface does, each with the body of its request. Throws ConfigurationError for a body that is wrong. */
export const operationsOf = (controlled: Controlled) => {
  const { service } = controlled;
  return {
    clock: () => {
      const { mode, nowMs, inFlight } = service.clock;
      return { now: nowMs(), mode, inFlight: inFlight() };
    },
    advance: async (body: unknown) => {
      const advance = await service.clock.advance(advanceIn(body));
      controlled.stepped(advance.now);
      controlled.counters.clockMoves += 1;
      return advance;
    },
    raise: (body: unknown) => {
      const { id, accountId, createTime } = raiseEvent(controlled, eventIn(body, controlled));
      return { id, accountId, createTime };
    },
    register: (body: unknown) => {
      const callback = callbackIn(body);
      controlled.deliveries.register(callback);
      return { url: callback?.url ?? null };
    },
    counters: () => ({
      ...controlled.counters,
      pushes: { ...controlled.counters.pushes, pending: controlled.deliveries.pending() },
      live: {
        codes: service.credentials.codes.size,
        refreshTokens: service.credentials.refreshTokens.size,
        accessTokens: service.credentials.accessTokens.size,
        notifications: service.notifications.count(everything),
      },
      callback: controlled.deliveries.callback()?.url ?? null,
    }),
    reset: () => reset(controlled),
  };
};

export type Operations = ReturnType<typeof operationsOf>;

/** Builds the control interface, which listens on a separate port and is not part of the service. */
export const buildControl = (operations: Operations): FastifyInstance => {
  const app = controlApp();
  app.get("/clock", operations.clock);
  app.post("/clock/advance", ({ body }) => operations.advance(body));
  app.post("/events", ({ body }, reply) => reply.code(201).send(operations.raise(body)));
  app.put("/callback", ({ body }) => operations.register(body));
  app.get("/counters", operations.counters);
  app.post("/reset", (_request, reply) => {
    operations.reset();
    return reply.code(204).send();
  });
  return app;
};

/** Forgets all credentials, notifications, deliveries, timers and counts; clients, limits and the time stay. */
const reset = (controlled: Controlled): void => {
  const { credentials, notifications, clock } = controlled.service;
  for (const records of Object.values(credentials) as Map<string, unknown>[]) records.clear();
  notifications.clear();
  clock.stop();
  controlled.counters = zeroCounters();
  controlled.deliveries.stop();
  controlled.behaviour = controlled.renewBehaviour();
  controlled.deliveries = controlled.renewDeliveries();
};

const objectIn = (body: unknown): Readonly<Record<string, unknown>> => {
  if (!isObject(body)) throw new ConfigurationError("the body must be a JSON object");
  return body;
};

const advanceIn = (body: unknown): number => {
  const { ms } = objectIn(body);
  if (typeof ms !== "number" || !Number.isSafeInteger(ms) || ms < 0 || ms > LONGEST_ADVANCE_MS)
    throw new ConfigurationError(
      `ms: expected a whole number of milliseconds from 0 to ${LONGEST_ADVANCE_MS}`,
    );
  return ms;
};

/** The callback in `{ url, ca? }`; none for `{ url: null }`. An empty ca counts as none. */
const callbackIn = (body: unknown): Callback | undefined => {
  const { url, ca } = objectIn(body);
  if (url === null) return undefined;
  if (typeof url !== "string" || !/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new ConfigurationError("url: expected an absolute http or https URL, or null for none");
  if (ca === undefined || ca === null || ca === "") return { url };
  if (typeof ca !== "string" || !isCertificate(ca))
    throw new ConfigurationError("ca: expected certificates in PEM");
  return { url, ca };
};

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
};

const eventIn = (body: unknown, { service }: Host): BusinessEvent => {
  const fields = objectIn(body);
  const { accountId } = fields;
  if (typeof accountId !== "string" || !UUID.test(accountId))
    throw new ConfigurationError("accountId: expected a UUID-shaped string");
  const texts: Partial<Record<(typeof OPTIONAL_TEXTS)[number], string>> = {};
  for (const name of OPTIONAL_TEXTS) {
    const value = fields[name];
    if (value === undefined) continue;
    if (typeof value !== "string") throw new ConfigurationError(`${name}: expected a string`);
    texts[name] = value;
  }
  if (texts.clientId !== undefined && !service.clients.has(texts.clientId))
    throw new ConfigurationError(`clientId: no client has the id "${texts.clientId}"`);
  return { accountId, ...texts };
};

interface BusinessEvent {
  readonly accountId: string;
  /** The client concerned; if absent, every client is. */
  readonly clientId?: string | undefined;
  readonly businessType?: string | undefined;
  readonly businessStatus?: string | undefined;
  readonly remark?: string | undefined;
  readonly data?: string | undefined;
  readonly status?: string | undefined;
}

/**
 * Turns an event into a notification (section 2.3), lists it as soon as it should be visible, and pushes it to the
 * callback if there is one (section 6).
 */
const raiseEvent = (
  { behaviour, service, counters, deliveries }: Host & { readonly deliveries: Pick<Deliveries, "accept"> },
  event: BusinessEvent,
): Notification => {
  const nowMs = service.clock.nowMs();
  const notification: Notification = {
    id: behaviour.mintNotificationId(service.random, nowMs),
    accountId: event.accountId,
    createTime: behaviour.createTime(nowMs, service),
    businessType: event.businessType ?? "CreateGlobalAccount",
    businessStatus: event.businessStatus ?? "Passed",
    remark: event.remark ?? "",
    data: event.data ?? "",
    status: event.status ?? "readed",
  };
  const owner = behaviour.ownerOf(event.clientId, service);
  const delayMs = behaviour.visibilityDelayMs(service);
  const keep = (): void => behaviour.keepNotification(notification, owner, service);
  if (delayMs > 0) service.clock.schedule(nowMs + delayMs, keep);
  else keep();
  counters.events += 1;
  deliveries.accept(notification);
  return notification;
};
