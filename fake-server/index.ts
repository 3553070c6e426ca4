import { findBehaviour } from "./behaviours.ts";
import type { FakeBehaviour } from "./registry.ts";
import { type FakeServer, type FakeServerOptions, startService } from "./start.ts";

export { behaviours, bundlesOf, defects, findBehaviour, joint, loadDefects, variants } from "./behaviours.ts";
export type { Behaviour } from "./behaviour.ts";
export { defaultClients } from "./clients.ts";
export { behaviourFrom, type FakeBehaviour } from "./registry.ts";
export { inProcessHooksOf, profileOf, secretsOf, serve, type ServeOptions } from "./serve.ts";
export { startFakeProcess } from "./serve.ts";
export { type FakeServer } from "./start.ts";
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
