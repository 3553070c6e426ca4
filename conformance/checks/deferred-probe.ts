import type { Windows } from "../judging/lifetimes/entries.ts";
import type { Side } from "../judging/lifetimes/probe.ts";
import type { World } from "../world/world.ts";

/**
 * A credential that a later run can judge, where this one may not wait for its end. It has to survive being written as
 * JSON, by its `client` or without one.
 */
export interface DeferredProbe<C = never> {
  /** Name of the case and of the credential in sentences: "refreshToken in use". */
  readonly name: string;
  /** How long it lives, as far as is known before one is issued; in milliseconds. */
  readonly lifetimeMs: (world: World) => number;
  readonly issue: (world: World) => Promise<unknown>;
  /** Its own lifetime in milliseconds, where each one states it. */
  readonly lifetimeOf?: (credential: C) => number;
  /** Whether it still works. Each credential is asked once. */
  readonly alive: (world: World, credential: C) => Promise<boolean>;
  /** What happens to it in every run until it is due; must not be decisive itself. */
  readonly use?: (world: World, credential: C) => Promise<void>;
  /** The ages to probe at; each window gets its own credential. */
  readonly windows: (lifetimeMs: number, guardMs: number, world: World) => Windows;
  /** What the document promises at this age, where it is not simply that the credential works or no longer does. */
  readonly promise?: (side: Side) => string;
  /** Its life is so short that a run may wait for its end, as far as --max-wait goes. */
  readonly isShort?: true;
  /** A question uses it up: it may not be asked a second time, whatever became of the first. */
  readonly isUsedUp?: true;
}

/** A deferred probe whose credential is of one type. */
export const deferredProbe = <C>(
  probe: DeferredProbe<C> & { readonly issue: (world: World) => Promise<C> },
): DeferredProbe => probe;
