/** Why a request failed. An empty answer is a success without anything of what its endpoint grants. */
export const failureCauses = [
  "429",
  "503 with Retry-After",
  "503",
  "other 5xx",
  "other 4xx",
  "redirect",
  "empty answer",
  "half answer",
  "timeout",
  "refused",
  "reset",
  "closed",
  "TLS",
  "name lookup",
  "other",
] as const;
export type FailureCause = (typeof failureCauses)[number];

/** Causes by which a service, or what is in front of it, asks for fewer requests. */
export const slowDownCauses: readonly string[] = ["429", "503 with Retry-After"] satisfies FailureCause[];

/** What a load generator may run out of. A request that it could not send for this is none of the service's. */
export const ownLimits = ["open files", "local ports", "socket buffers"] as const;
export type OwnLimit = (typeof ownLimits)[number];
