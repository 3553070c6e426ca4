import { findBehaviour } from "./behaviours.ts";
import type { FakeBehaviour } from "./registry.ts";
import { type FakeServer, type FakeServerOptions, startService } from "./start.ts";

export { behaviours, bundlesOf, findBehaviour, joint } from "./behaviours.ts";
export type { Behaviour } from "./behaviour.ts";
export { defaultClients } from "./clients.ts";
export { defects, loadDefects } from "./defects/index.ts";
export { inProcessHooksOf, profileOf, secretsOf } from "./profile.ts";
export { behaviourFrom, type FakeBehaviour } from "./registry.ts";
export { serve, type ServeOptions } from "./serve.ts";
export { startFakeProcess } from "./process.ts";
export { type FakeServer } from "./start.ts";
export { variants } from "./variants/index.ts";
export { loadVariants } from "./variants/load.ts";

export type StartOptions = Omit<FakeServerOptions, "behaviour"> & {
  /** A behaviour or its name; default `sound`. */
  readonly behaviour?: string | FakeBehaviour;
};

/** Starts a service with the given behaviour. Rejects with ConfigurationError. */
export const startFakeServer = ({
  behaviour = "sound",
  ...options
}: StartOptions = {}): Promise<FakeServer> =>
  startService({
    ...options,
    behaviour: typeof behaviour === "string" ? findBehaviour(behaviour) : behaviour,
  });
