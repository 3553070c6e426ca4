import { readFile } from "node:fs/promises";
import path from "node:path";
import { readReason } from "../contract/files.ts";
import type { Profile } from "../contract/profile.ts";
import { readPrivate, type SecretReader } from "./profile-secret.ts";
import type { ReceiverAccess } from "../world/receiver.ts";

/** How a run comes by a receiver: one that runs elsewhere, or one that is started for it with these settings. */
export type ReceiverSettings =
  | ({ readonly kind: "attach" } & ReceiverAccess)
  | {
      readonly kind: "listen";
      readonly host?: string;
      readonly publicHost?: string;
      readonly port?: number;
      readonly scheme?: "https" | "http";
      readonly path?: string;
      readonly certificate?: { readonly certPem: string; readonly keyPem: string };
      readonly certificateFolder?: string;
    };

/**
 * The receiver that a profile names, with its secrets and files fetched, or the sentences that say why not.
 * Files are looked for beside the profile.
 */
export const resolveReceiver = async (
  profile: Profile,
  readSecret: SecretReader,
  source: string | undefined,
): Promise<{ readonly settings: ReceiverSettings } | { readonly problems: readonly string[] }> => {
  const { receiver } = profile;
  if (receiver === undefined) return { settings: { kind: "listen" } };
  if ("attach" in receiver) {
    const { controlUrl, token } = receiver.attach;
    if (token === undefined) return { settings: { kind: "attach", controlUrl } };
    const read = await readSecret(token);
    return typeof read === "string"
      ? { problems: [`receiver.attach.token: ${read}`] }
      : { settings: { kind: "attach", controlUrl, token: read.value } };
  }
  const { certificate, certificateFolder, ...rest } = receiver.listen;
  const beside = (file: string): string => path.resolve(path.dirname(source ?? "."), file);
  const folder = certificateFolder === undefined ? {} : { certificateFolder: beside(certificateFolder) };
  if (certificate === undefined) return { settings: { kind: "listen", ...rest, ...folder } };
  const certFile = beside(certificate.certFile);
  const certPem = await readFile(certFile, "utf8").catch((error: unknown) => error as Error);
  const key = await readPrivate(beside(certificate.keyFile));
  const at = "receiver.listen.certificate";
  if (typeof certPem !== "string")
    return { problems: [`${at}.certFile: the file ${certFile} cannot be read: ${readReason(certPem)}`] };
  if (typeof key === "string") return { problems: [`${at}.keyFile: ${key}`] };
  return { settings: { kind: "listen", ...rest, ...folder, certificate: { certPem, keyPem: key.value } } };
};
