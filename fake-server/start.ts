import { type ClockMode, createClock } from "./clock.ts";
import { defaultClients, type FakeClient } from "./clients.ts";
import { buildControl, operationsOf, type Controlled } from "./control.ts";
import { zeroCounters, emptyCredentials, type ServiceLimits, serviceLimits } from "./context.ts";
import { createDeliveries } from "./delivery/deliveries.ts";
import { openData } from "./delivery/store.ts";
import { randomFrom } from "./random.ts";
import { type FakeBehaviour, soundBehaviour } from "./registry.ts";
import { buildServer, type Host } from "./server.ts";
import { listenAt, once } from "./serving.ts";

export interface FakeServerOptions {
  readonly behaviour?: FakeBehaviour;
  /** 0, the default, selects any free port. */
  readonly port?: number;
  readonly controlPort?: number;
  /** Only serves this machine. */
  readonly host?: "127.0.0.1";
  readonly clients?: readonly FakeClient[];
  /** The same seed gives the same codes, tokens and ids in the same order. */
  readonly seed?: number;
  /** Initial time of the clock, in milliseconds since 1970. */
  readonly startTimeMs?: number;
  /** Overrides the behaviour's own; `frozen` if neither is set. */
  readonly clockMode?: ClockMode;
  readonly limits?: Partial<ServiceLimits>;
  /**
   * A folder in which notifications, the callback, pending deliveries and the time outlive the process; created if
   * needed. Credentials do not outlive it: clients authorize again.
   */
  readonly dataDirectory?: string;
  /** How long an advance of the clock awaits a push without progress, in milliseconds of real time. */
  readonly patienceMs?: number;
}

export type FakeServer = Awaited<ReturnType<typeof startService>>;

const DEFAULT_SEED = 1;
const SEED_STRIDE = 1_000_003;
const HOST = "127.0.0.1";

/** The service and its control interface, not yet listening. */
export const createService = (options: FakeServerOptions = {}) => {
  const behaviour = options.behaviour ?? soundBehaviour;
  const clients = options.clients ?? defaultClients;
  const kept = openData(options.dataDirectory);
  const mode = options.clockMode ?? behaviour.clockMode ?? "frozen";
  const host: Host = {
    service: {
      clients: new Map(clients.map((client) => [client.id, client])),
      limits: { ...serviceLimits, ...options.limits },
      clock: createClock(
        mode,
        options.startTimeMs ?? kept.continuedMs(mode) ?? behaviour.startTimeMs,
        options.patienceMs,
      ),
      // A continued service must not generate the ids of its earlier start again.
      random: randomFrom((options.seed ?? DEFAULT_SEED) + kept.store.earlierStarts * SEED_STRIDE),
      credentials: emptyCredentials(),
      notifications: kept.notifications,
    },
    counters: zeroCounters(),
    behaviour: behaviour.make(),
  };
  const controlled: Controlled = Object.assign(host, {
    renewBehaviour: behaviour.make,
    deliveries: createDeliveries(host, kept.store),
    renewDeliveries: () => {
      kept.store.clear();
      return createDeliveries(host, kept.store);
    },
    stepped: kept.store.saveNow,
  });
  kept.store.saveNow(host.service.clock.nowMs());
  const operations = operationsOf(controlled);
  const apps = [buildServer(controlled), buildControl(operations)] as const;
  /** Closes every connection and both ports. May be called again. */
  const stop = once(async () => {
    controlled.deliveries.stop();
    controlled.service.clock.stop();
    await Promise.all(apps.map((app) => app.close()));
    kept.close();
  });
  return {
    apps,
    operations,
    clients,
    behaviour: behaviour.name,
    clockMode: mode,
    resume: () => controlled.deliveries.resume(),
    stop,
  };
};

/**
 * Starts the service and its control interface, each on its own port. Rejects with ConfigurationError, leaving nothing
 * open.
 */
export const startService = async (options: FakeServerOptions = {}) => {
  const { apps, resume, ...service } = createService(options);
  try {
    const baseUrl = `http://${HOST}:${await listenAt(apps[0], HOST, options.port ?? 0)}`;
    const controlUrl = `http://${HOST}:${await listenAt(apps[1], HOST, options.controlPort ?? 0)}`;
    resume();
    return { baseUrl, controlUrl, ...service };
  } catch (error) {
    await service.stop();
    throw error;
  }
};
