import type { Endpoint } from "../conformance/contract/forms.ts";
import type { IncomingMessage } from "node:http";
import type { ServiceClock } from "./clock.ts";
import type { FakeClient } from "./clients.ts";
import type { Credentials } from "./credentials.ts";
import type { ServiceLimits } from "./limits.ts";
import type { NotificationStore } from "./notifications.ts";
import type { RandomSource } from "./random.ts";

/** The operations of section 4 that a client calls. */
export type Operation = Endpoint;

/** What the service is made of, apart from how it decides. */
export interface Service {
  readonly clients: ReadonlyMap<string, FakeClient>;
  readonly limits: ServiceLimits;
  readonly clock: ServiceClock;
  readonly random: RandomSource;
  readonly credentials: Credentials;
  readonly notifications: NotificationStore;
}

/** All that a decision may draw on besides its subject: the service, the moment, and the request at hand. */
export interface Context extends Service {
  /** What the request is for; `elsewhere` when its path and method are none of the documented ones. */
  readonly operation: Operation | "elsewhere";
  /** The service's time when the request arrived. */
  readonly nowMs: number;
  /** The request as Node read it: target, headers, connection. */
  readonly from: IncomingMessage;
}
