import { documentLimits, type Limits } from "../conformance/contract/limits.ts";

/** The document's numbers (section 8) and those that the document leaves to the service. */
export interface ServiceLimits extends Limits {
  /** How long an access token works; told to the client as expiresIn. */
  readonly accessTokenLifetimeMs: number;
  /** The greatest page size that is served. */
  readonly maximumLimit: number;
  /** How long the sender of pushes waits for the whole of an answer. */
  readonly senderTimeoutMs: number;
  /** The greatest request body that is read. */
  readonly bodyMaxBytes: number;
}

export const serviceLimits: ServiceLimits = {
  ...documentLimits,
  accessTokenLifetimeMs: 7_200_000,
  maximumLimit: 100,
  senderTimeoutMs: 10_000,
  bodyMaxBytes: 256 * 1024,
};
