import type { Profile } from "../contract/profile.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Environment } from "./profile-secret.ts";

/**
 * The environment in which a load run of this profile finds its k6. A load must reach the target as the gate does, so
 * settings that k6 cannot follow are refused, not silently ignored. Throws ConfigurationError.
 */
export const loadEnvironment = (
  { network, authorize }: Pick<Profile, "network" | "authorize">,
  environment: Environment,
): Environment => {
  const ways = {
    "network.clientCertificate": network?.clientCertificate,
    "network.proxy": network?.proxy,
    "network.resolve": network?.resolve,
    "authorize.code": authorize?.code,
  };
  const problems = Object.entries(ways).flatMap(([key, value]) =>
    value === undefined
      ? []
      : [
          `${key}: a load run cannot follow it; accepted is a profile without it (keep it in a separate file that only the gate adds)`,
        ],
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
  return network?.caFile === undefined ? environment : { ...environment, SSL_CERT_FILE: network.caFile };
};
