import { documentLimits, type Limits } from "../conformance/contract/limits.ts";

/** The document's numbers (section 8) and those it leaves to the service. */
export interface ServiceLimits extends Limits {
  /** Lifetime of an access token; reported to the client as expiresIn. */
  readonly accessTokenLifetimeMs: number;
  /** The maximum page size served. */
  readonly maximumLimit: number;
  /** How long the sender of pushes waits for a complete answer. */
  readonly senderTimeoutMs: number;
  /** The maximum request body read. */
  readonly bodyMaxBytes: number;
}

export const serviceLimits: ServiceLimits = {
  ...documentLimits,
  accessTokenLifetimeMs: 7_200_000,
  maximumLimit: 100,
  senderTimeoutMs: 10_000,
  bodyMaxBytes: 256 * 1024,
};
