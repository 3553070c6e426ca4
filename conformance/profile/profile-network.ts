import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import tls from "node:tls";
import { readReason } from "../contract/files.ts";
import type { Profile } from "../contract/profile.ts";
import { readPrivate, type SecretReader } from "./profile-secret.ts";
import type { DialSettings } from "../world/http/dialer.ts";
import { errorMessage } from "../contract/text.ts";

/** The network settings of a profile with their files and secrets fetched, or the sentences that say why not. */
export const resolveNetwork = async (
  { network }: Profile,
  readSecret: SecretReader,
  source: string | undefined,
): Promise<{ readonly settings: DialSettings } | { readonly problems: readonly string[] }> => {
  if (network === undefined) return { settings: {} };
  const beside = (file: string): string => path.resolve(path.dirname(source ?? "."), file);
  const [ca, client, proxy] = await Promise.all([
    authority(network.caFile === undefined ? undefined : beside(network.caFile)),
    clientCertificate(network.clientCertificate, beside, readSecret),
    proxyAddress(network.proxy, readSecret),
  ]);
  const problems = [ca, client, proxy].flatMap((part) => ("problems" in part ? part.problems : []));
  if ("problems" in ca || "problems" in client || "problems" in proxy) return { problems };
  return { settings: { ...ca, ...client, ...proxy, resolve: network.resolve ?? {} } };
};

type Part<T> = T | { readonly problems: readonly string[] };

/** A certificate that is none would only show as a handshake that fails. */
const authority = async (file: string | undefined): Promise<Part<Pick<DialSettings, "ca">>> => {
  if (file === undefined) return {};
  const text = await readFile(file, "utf8").catch((error: unknown) => error as Error);
  if (typeof text !== "string")
    return { problems: [`network.caFile: the file ${file} cannot be read: ${readReason(text)}`] };
  try {
    void new X509Certificate(text);
    return { ca: text };
  } catch {
    return { problems: [`network.caFile: the file ${file} holds no certificate in PEM`] };
  }
};

const clientCertificate = async (
  asked: NonNullable<Profile["network"]>["clientCertificate"],
  beside: (file: string) => string,
  readSecret: SecretReader,
): Promise<Part<Pick<DialSettings, "clientCertificate">>> => {
  if (asked === undefined) return {};
  const at = "network.clientCertificate";
  const certFile = beside(asked.certFile);
  const cert = await readFile(certFile, "utf8").then(
    (value) => ({ value }),
    (error: unknown) => `the file ${certFile} cannot be read: ${readReason(error)}`,
  );
  const key = await readPrivate(beside(asked.keyFile));
  const passphrase =
    asked.passphrase === undefined ? { value: undefined } : await readSecret(asked.passphrase);
  if (typeof cert === "string") return { problems: [`${at}.certFile: ${cert}`] };
  if (typeof key === "string") return { problems: [`${at}.keyFile: ${key}`] };
  if (typeof passphrase === "string") return { problems: [`${at}.passphrase: ${passphrase}`] };
  const pair = { cert: cert.value, key: key.value, passphrase: passphrase.value };
  try {
    tls.createSecureContext(pair);
    return { clientCertificate: pair };
  } catch (error) {
    const reason = errorMessage(error);
    return { problems: [`${at}: certificate and key do not go together, or are no PEM: ${reason}`] };
  }
};

const proxyAddress = async (
  asked: NonNullable<Profile["network"]>["proxy"],
  readSecret: SecretReader,
): Promise<Part<Pick<DialSettings, "proxy">>> => {
  if (asked === undefined) return {};
  const read = typeof asked.url === "string" ? { value: asked.url } : await readSecret(asked.url);
  if (typeof read === "string") return { problems: [`network.proxy.url: ${read}`] };
  const url = URL.canParse(read.value) ? new URL(read.value) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return {
      problems: [
        "network.proxy.url: what is kept there is no address; accepted is one that starts with http:// or https://",
      ],
    };
  return { proxy: { url: url.href, except: asked.except ?? [] } };
};
