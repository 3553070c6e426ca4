import { X509Certificate } from "node:crypto";
import tls from "node:tls";
import { given } from "../contract/given.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { type Profile, secretKey, type SecretSource, type SecretValue } from "../contract/profile.ts";
import { errorMessage } from "../contract/text.ts";
import type { DialSettings } from "../world/http/dialer.ts";
import { type Problems, canBeSent } from "./profile-problems.ts";
import { readSecretFile, readText, type SecretReader } from "./profile-secret.ts";
import type { FetchedProfile } from "../contract/profile-fetched.ts";
import { isObject } from "../contract/json.ts";
import type { KeyPath } from "../contract/schema-errors.ts";

/** The network settings of a profile with their files and secrets fetched, as far as available. */
export const resolveNetwork = async (
  { network }: Profile,
  readSecret: SecretReader,
  problems: Problems,
): Promise<DialSettings> => {
  if (network === undefined) return {};
  const { caFile, clientCertificate, proxy, resolve = {} } = network;
  const ca = await problems.attempt(["network", "caFile"], caFile, authority);
  const pair = clientCertificate && (await certificateOf(clientCertificate, readSecret, problems));
  const url = await problems.attempt(["network", "proxy", "url"], proxy?.url, async (address) =>
    proxyAddress(typeof address === "string" ? address : await readSecret(address)),
  );
  return given({
    ca,
    clientCertificate: pair,
    proxy: url === undefined ? undefined : { url, except: proxy?.except ?? [] },
    resolve,
  });
};

/** Reads an authority. An invalid one would otherwise only show as a failing handshake. */
const authority = async (file: string): Promise<string> => {
  const text = await readText(file);
  try {
    void new X509Certificate(text);
    return text;
  } catch {
    throw new ConfigurationError(`the file ${file} contains no PEM certificate`);
  }
};

const certificateOf = async (
  { certFile, keyFile, passphrase: where }: NonNullable<NonNullable<Profile["network"]>["clientCertificate"]>,
  readSecret: SecretReader,
  problems: Problems,
): Promise<DialSettings["clientCertificate"]> => {
  const at = ["network", "clientCertificate"];
  const cert = await problems.attempt([...at, "certFile"], certFile, readText);
  const key = await problems.attempt([...at, "keyFile"], keyFile, readSecretFile);
  const passphrase = await problems.attempt([...at, "passphrase"], where, readSecret);
  if (cert === undefined || key === undefined || (where !== undefined && passphrase === undefined))
    return undefined;
  const pair = { cert, key, passphrase };
  try {
    tls.createSecureContext(pair);
    return pair;
  } catch (error) {
    problems.add(at, `certificate and key do not match, or are not PEM: ${errorMessage(error)}`);
    return undefined;
  }
};

const proxyAddress = (address: string): string => {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new ConfigurationError(
      "the value stored there is not an address; accepted is one that starts with http:// or https://",
    );
  return url.href;
};

/** What reads the secret at a place. */
type Fetch = (
  at: KeyPath,
  source: SecretSource & { readonly prefix?: string },
  isHeader?: boolean,
) => Promise<string>;

/**
 * The profile with the secrets of its headers, of authorize's query and of hooks filled in, as far as available. A
 * source that is used several times is read once.
 */
export const fetchValues = async (
  profile: Profile,
  readSecret: SecretReader,
  problems: Problems,
): Promise<FetchedProfile> => {
  const readings = new Map<string, Promise<string>>();
  const readOnce: SecretReader = (where) => {
    const key = JSON.stringify(where);
    const reading = readings.get(key) ?? readSecret(where);
    readings.set(key, reading);
    return reading;
  };
  const fetched = new Set<string>();
  const fetch: Fetch = async (at, { prefix = "", ...source }, isHeader = false) => {
    const secret = await problems.attempt(at, source, readOnce);
    if (secret === undefined) return "";
    fetched.add(secret);
    const text = `${prefix}${secret}`;
    if (isHeader && !canBeSent(String(at.at(-1)), text))
      problems.add(
        at,
        "the value stored there cannot be sent in a header; accepted are the values that RFC 9110 allows, on one line",
      );
    return text;
  };
  const { headers, authorize, hooks, ...rest } = profile;
  const filled = await filledIn(given({ headers, authorize, hooks }), [], fetch);
  const secrets = fetched.size === 0 ? {} : { fetchedSecrets: [...fetched] };
  return { ...rest, ...(filled as Pick<FetchedProfile, "headers" | "authorize" | "hooks">), ...secrets };
};

/** A part of the profile with all secrets filled in, sequentially, so that problems keep their order. */
const filledIn = async (part: unknown, at: KeyPath, fetch: Fetch): Promise<unknown> => {
  if (!isObject(part)) return part;
  const filled: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(part)) {
    const fill = key === "headers" || key === "query" ? valuesOf : key === "body" ? bodyOf : filledIn;
    filled[key] = await fill(value, [...at, key], fetch);
  }
  return filled;
};

const valuesOf = async (values: unknown, at: KeyPath, fetch: Fetch): Promise<unknown> => {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(values as Readonly<Record<string, SecretValue>>))
    read[name] =
      typeof value === "string" ? value : await fetch([...at, name], value, at.at(-1) === "headers");
  return read;
};

/** A JSON value with each `{ "$secret": source }` replaced by the secret. */
const bodyOf = async (body: unknown, at: KeyPath, fetch: Fetch): Promise<unknown> => {
  if (Array.isArray(body)) return Promise.all(body.map((item, index) => bodyOf(item, [...at, index], fetch)));
  if (!isObject(body)) return body;
  if (Object.hasOwn(body, secretKey)) return fetch(at, body[secretKey] as SecretSource);
  const inner = Object.entries(body).map(
    async ([key, value]) => [key, await bodyOf(value, [...at, key], fetch)] as const,
  );
  return Object.fromEntries(await Promise.all(inner));
};
