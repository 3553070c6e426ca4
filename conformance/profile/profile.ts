import {
  type FetchedProfile,
  decoded,
  secretsInProfile,
  type InProcessHooks,
} from "../contract/profile-fetched.ts";
import type { Profile } from "../contract/profile.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { checkProfile } from "./profile-check.ts";
import { collectProblems, type Problems } from "./profile-problems.ts";
import { fetchValues, resolveNetwork } from "./profile-network.ts";
import { layered, readLayer, sourceOf, type ProfileLayer } from "./profile-file.ts";
import type { KeyPath } from "../contract/schema-errors.ts";
import {
  readSecretFile,
  readText,
  secretReader,
  type Environment,
  type SecretReader,
} from "./profile-secret.ts";
import { given } from "../contract/given.ts";
import type { ReceiverAccess } from "../world/receiver.ts";
import type { DialSettings } from "../world/http/dialer.ts";
import type { Client } from "../world/target.ts";
import type { Secrets } from "../contract/secrets.ts";

export { checkProfile } from "./profile-check.ts";

type Listen = Extract<NonNullable<Profile["receiver"]>, { listen: unknown }>["listen"];

/** How a run gets its receiver: one that runs elsewhere, or one started with these settings. */
export type ReceiverSettings =
  | ({ readonly kind: "attach" } & ReceiverAccess)
  | ({
      readonly kind: "listen";
      readonly certificate?: { readonly certPem: string; readonly keyPem: string };
    } & Readonly<Omit<Listen, "certificate">>);

/** A profile whose secrets have been fetched. Never written anywhere. */
export interface ResolvedProfile {
  readonly profile: FetchedProfile;
  readonly clients: readonly Client[];
  /** The receiver of a run; by default one on this machine. */
  readonly receiver?: ReceiverSettings;
  /** How target and hooks are reached; by default directly. */
  readonly network?: DialSettings;
  /** Called in place of the profile's hooks, if the target runs in this process. */
  readonly inProcessHooks?: InProcessHooks;
  /** The files it was read from, each layered over the previous ones; none for the embedded fake's. */
  readonly sources: readonly string[];
}

const read = async (files: string | readonly string[]) => {
  const layers = await Promise.all([files].flat().map(readLayer));
  return { layers, profile: checkProfile(layered(layers), (at) => sourceOf(layers, at)) };
};

/** A profile as written, with no secret fetched. Throws ConfigurationError. */
export const readProfile = async (files: string | readonly string[]): Promise<Profile> =>
  (await read(files)).profile;

/**
 * Reads, checks and resolves a profile: JSON, or a module (.ts, .js, .mjs) with a default export. Several files are
 * layered over one another. Throws ConfigurationError with every problem found, each naming its file, its key and what
 * is accepted.
 */
export const loadProfile = async (
  files: string | readonly string[],
  environment: Environment,
): Promise<ResolvedProfile> => {
  const { layers, profile } = await read(files);
  return resolve(profile, environment, layers);
};

/** Fetches a profile's secrets. Throws ConfigurationError if one is unavailable; the error never shows a value. */
export const resolveProfile = (profile: Profile, environment: Environment): Promise<ResolvedProfile> =>
  resolve(profile, environment, []);

const resolve = async (
  profile: Profile,
  environment: Environment,
  layers: readonly ProfileLayer[],
): Promise<ResolvedProfile> => {
  const readSecret = secretReader(environment);
  const problems = collectProblems();
  const clients: Client[] = [];
  for (const [index, { id, secret: where, redirectUri }] of profile.clients.entries()) {
    const secret = await problems.attempt(["clients", index, "secret"], where, readSecret);
    if (secret !== undefined && secret === clients[0]?.secret)
      problems.add(
        ["clients", index, "secret"],
        "it is the same as that of clients[0]; accepted is a second client with another secret, or no second client",
      );
    clients.push({ id, secret: secret ?? "", redirectUri });
  }
  const fetched = await fetchValues(profile, readSecret, problems);
  const receiver = await resolveReceiver(profile, readSecret, problems);
  const network = await resolveNetwork(profile, readSecret, problems);
  const nameOf = (at: KeyPath): string => (layers.length === 0 ? "profile" : sourceOf(layers, at));
  if (problems.all.length > 0)
    throw new ConfigurationError(problems.all.map(({ at, text }) => `${nameOf(at)}: ${text}`));
  return { profile: fetched, clients, receiver, network, sources: layers.map(({ source }) => source) };
};

/** The receiver that a profile names, with its secrets and files fetched, as far as available. */
const resolveReceiver = async (
  { receiver }: Profile,
  readSecret: SecretReader,
  problems: Problems,
): Promise<ReceiverSettings> => {
  if (receiver === undefined) return { kind: "listen" };
  if ("attach" in receiver) {
    const { controlUrl, token: where } = receiver.attach;
    const token = await problems.attempt(["receiver", "attach", "token"], where, readSecret);
    return { kind: "attach", controlUrl, ...given({ token }) };
  }
  const { certificate, ...rest } = receiver.listen;
  const at = ["receiver", "listen", "certificate"];
  const certPem = await problems.attempt([...at, "certFile"], certificate?.certFile, readText);
  const keyPem = await problems.attempt([...at, "keyFile"], certificate?.keyFile, readSecretFile);
  const pair = certPem === undefined || keyPem === undefined ? {} : { certificate: { certPem, keyPem } };
  return { kind: "listen", ...rest, ...pair };
};

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
