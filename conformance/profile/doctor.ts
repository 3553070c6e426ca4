import { isLoopback } from "../contract/text.ts";
import { mistaken, skipped, type Check } from "../contract/check.ts";
import type { FetchedProfile } from "../contract/profile-fetched.ts";
import type { Profile, SecretSource } from "../contract/profile.ts";
import { ledgerKeyVariable } from "../lifetimes/ledger-file.ts";
import type { ConfigurationError } from "../contract/problem.ts";
import type { ResolvedProfile } from "./profile.ts";
import type { Environment } from "./profile-secret.ts";

export const profileMistakes = ({ problems }: ConfigurationError): readonly Check[] =>
  problems.map((message) =>
    mistaken(
      "profile",
      message,
      "correct it there and run doctor again; docs/reference/profile.md has every key",
    ),
  );

/** Checks of a profile that send nothing. `today` is a day as YYYY-MM-DD (UTC). */
export const profileChecks = (
  resolved: ResolvedProfile,
  environment: Environment,
  today: string,
): readonly Check[] => {
  const { profile, sources } = resolved;
  if (sources.length === 0)
    return [{ check: "profile", ok: "skipped", message: "none was given: this is the embedded fake" }];
  return [
    { check: "profile", ok: true, message: `${sources.join(" + ")}: every key is known and has a value` },
    { check: "secrets", ok: true, message: secretsText(profile) },
    ...networkCheck(resolved),
    ...(profile.waivers ?? []).map((waiver) => waiverCheck(waiver, today)),
    safetyCheck(profile),
    ledgerCheck(environment),
  ];
};

const secretsText = ({ clients, receiver, fetchedSecrets = [] }: FetchedProfile): string => {
  const token = receiver !== undefined && "attach" in receiver ? receiver.attach.token : undefined;
  return [
    ...clients.map(({ secret }, index) => `clients[${index}].secret from ${placeOf(secret)}`),
    token && `receiver.attach.token from ${placeOf(token)}`,
    fetchedSecrets.length > 0 &&
      `${fetchedSecrets.length} more for headers, queries and bodies, read from the places that the profile names`,
  ]
    .filter(Boolean)
    .join(", ");
};

const placeOf = (where: SecretSource): string => {
  if ("env" in where) return where.env;
  return "file" in where ? where.file : `the output of ${where.command[0]}`;
};

const networkCheck = ({ profile, network = {} }: ResolvedProfile): Check[] => {
  if (profile.network === undefined) return [];
  const { ca, clientCertificate, proxy, resolve = {} } = network;
  const parts = [
    ca !== undefined && `trusts the authorities of ${profile.network.caFile}`,
    clientCertificate !== undefined && "presents a client certificate",
    proxy !== undefined &&
      `goes through the proxy ${new URL(proxy.url).host}${proxy.except.length === 0 ? "" : `, except for ${proxy.except.join(", ")}`}`,
    ...Object.entries(resolve).map(([host, address]) => `finds ${host} at ${address}`),
  ].filter((part) => part !== false);
  return [{ check: "network", ok: true, message: parts.join("; ") || "nothing is set" }];
};

const waiverCheck = ({ id, owner, expires }: NonNullable<Profile["waivers"]>[number], today: string): Check =>
  expires < today
    ? {
        check: `waiver of ${id}`,
        ok: false,
        message: `it expired on ${expires}, and fails the gate`,
        remedy: `fix the breach and remove the waiver, or agree on a new date with ${owner}`,
      }
    : { check: `waiver of ${id}`, ok: true, message: `applies until ${expires} (${owner})` };

/** The gate does not care which hosts may be loaded, so this never fails. */
const safetyCheck = ({ baseUrl, safety }: Profile): Check => {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "");
  if (isLoopback(host) || safety?.hosts?.includes(host) === true)
    return { check: "safety.hosts", ok: true, message: `${host} may be loaded` };
  return skipped(
    "safety.hosts",
    `${host} may not be loaded, so \`touchstone load\` refuses it`,
    `add "${host}" to safety.hosts, once its owner agrees`,
  );
};

const ledgerCheck = (environment: Environment): Check =>
  (environment[ledgerKeyVariable] ?? "") === ""
    ? skipped(
        "ledger key",
        `${ledgerKeyVariable} is not set: only --ledger-key-file can open a ledger`,
        `set it for \`conform --ledger FILE\`, which judges long lifetimes over several runs`,
      )
    : { check: "ledger key", ok: true, message: `${ledgerKeyVariable} is set` };
