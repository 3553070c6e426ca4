import type { TimeInterval } from "../judging/interval.ts";
import type { Windows } from "../judging/lifetimes/entries.ts";
import type { Side } from "../judging/lifetimes/probe.ts";
import type { DurableSteps } from "../world/durable-steps.ts";
import type { World } from "../world/world.ts";

/**
 * A kind of credential whose lifetime is judged, by this run or by a later one. Issued ones have to survive being
 * written as JSON, by their `client` or without one.
 */
export interface ExpiringCredential<C, Issued = C> {
  /** Name of this part of the rule and of the credential in sentences: "code", "refreshToken in use". */
  readonly name: string;
  /** As far as is known before one is issued; in milliseconds. */
  readonly lifetimeMs: (world: World) => number;
  /** Issues one; its time of issue is taken to lie within this call. `way` is the index of the way in which to issue it. */
  readonly issue: (world: World, steps: DurableSteps, way: number) => Promise<Issued>;
  /** When the credential was issued, where `issue` takes time before it does so: then it keeps durable steps itself. */
  readonly issuedIn?: (credential: C) => TimeInterval;
  /** The credential's own lifetime in milliseconds, where each one states it; `lifetimeMs` then only spreads the ages. */
  readonly lifetimeOf?: (credential: C) => number;
  /** Whether it still works. Each credential is asked once. */
  readonly alive: (world: World, credential: C) => Promise<boolean>;
  /** What happens to it while it lives; must not be decisive itself. A later run does it each time that it waits on. */
  readonly use?: (world: World, credential: C) => Promise<void>;
}

/** How later runs judge a credential, where time is real and the wait too long for this one. */
export interface Deferral {
  /** The ages to probe at; each window gets its own credential. */
  readonly windows: (lifetimeMs: number, guardMs: number, world: World) => Windows;
  /** What the document promises at this age, where it is not simply that the credential works or no longer does. */
  readonly promise?: (side: Side) => string;
  /** Its life is so short that a run may wait for its end, as far as --max-wait goes. */
  readonly isShort?: true;
  /** A question uses it up: it may not be asked a second time, whatever became of the first. */
  readonly isUsedUp?: true;
}

/** A credential that later runs can judge, of whatever type. */
export type DeferredCredential = ExpiringCredential<never, unknown> & Deferral;
