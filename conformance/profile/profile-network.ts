import { X509Certificate } from "node:crypto";
import path from "node:path";
import tls from "node:tls";
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
  source: string | undefined,
  problems: Problems,
): Promise<DialSettings> => {
  if (network === undefined) return {};
  const beside = (file: string): string => path.resolve(path.dirname(source ?? "."), file);
  const { caFile, clientCertificate: pair, proxy } = network;
  const ca =
    caFile === undefined
      ? undefined
      : await problems.attempt(["network", "caFile"], () => authority(beside(caFile)));
  const clientCertificate =
    pair === undefined ? undefined : await certificateOf(pair, beside, readSecret, problems);
  const url =
    proxy === undefined
      ? undefined
      : await problems.attempt(["network", "proxy", "url"], async () =>
          proxyAddress(typeof proxy.url === "string" ? proxy.url : await readSecret(proxy.url)),
        );
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(url === undefined ? {} : { proxy: { url, except: proxy?.except ?? [] } }),
    resolve: network.resolve ?? {},
  };
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
  asked: NonNullable<NonNullable<Profile["network"]>["clientCertificate"]>,
  beside: (file: string) => string,
  readSecret: SecretReader,
  problems: Problems,
): Promise<DialSettings["clientCertificate"]> => {
  const at = ["network", "clientCertificate"];
  const cert = await problems.attempt([...at, "certFile"], () => readText(beside(asked.certFile)));
  const key = await problems.attempt([...at, "keyFile"], () => readSecretFile(beside(asked.keyFile)));
  const secret = asked.passphrase;
  const passphrase =
    secret === undefined
      ? undefined
      : await problems.attempt([...at, "passphrase"], () => readSecret(secret));
  if (cert === undefined || key === undefined || (secret !== undefined && passphrase === undefined))
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
