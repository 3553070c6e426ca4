import { decoded, secretsInProfile } from "../contract/profile-secrets.ts";
import type { ResolvedProfile } from "./profile.ts";
import type { Secrets } from "../contract/secrets.ts";

export const concealResolved = (
  secrets: Secrets,
  resolved: Pick<ResolvedProfile, "profile" | "clients" | "receiver" | "network">,
): void => {
  for (const { secret } of resolved.clients) secrets.conceal(secret, "client secret");
  const { receiver } = resolved;
  if (receiver?.kind === "attach" && receiver.token !== undefined)
    secrets.conceal(receiver.token, "receiver token");
  for (const value of secretsInProfile(resolved.profile)) secrets.conceal(value, "profile value");
  concealNetwork(secrets, resolved.network);
};

const concealNetwork = (secrets: Secrets, network: ResolvedProfile["network"]): void => {
  const proxy = network?.proxy === undefined ? undefined : new URL(network.proxy.url);
  if (proxy !== undefined) secrets.conceal(decoded(proxy.password), "proxy password");
  const passphrase = network?.clientCertificate?.passphrase;
  if (passphrase !== undefined) secrets.conceal(passphrase, "passphrase");
};
