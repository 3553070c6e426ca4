import { X509Certificate } from "node:crypto";
import tls from "node:tls";
import { given } from "../contract/given.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Profile } from "../contract/profile.ts";
import { errorMessage } from "../contract/text.ts";
import type { DialSettings } from "../world/http/dialer.ts";
import type { Problems } from "./profile-problems.ts";
import { readSecretFile, readText, type SecretReader } from "./profile-secret.ts";

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
