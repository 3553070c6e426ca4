import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Profile } from "./contract/profile.ts";
import type { ReceiverAccess } from "./world/receiver.ts";

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

export type SecretReader = (
  where: Profile["clients"][number]["secret"],
) => Promise<{ value: string } | string>;

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
    if (!/^https?:\/\//.test(controlUrl) || !URL.canParse(controlUrl))
      return {
        problems: [
          `receiver.attach.controlUrl is "${controlUrl}"; accepted is an absolute URL that starts with http:// or https://`,
        ],
      };
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
  const files = await Promise.all(
    (["certFile", "keyFile"] as const).map(async (key) => ({
      key,
      text: await readFile(beside(certificate[key]), "utf8").catch(() => undefined),
    })),
  );
  const problems = files.flatMap(({ key, text }) =>
    text === undefined
      ? [`receiver.listen.certificate.${key}: the file ${beside(certificate[key])} cannot be read`]
      : [],
  );
  const [cert, key] = files;
  if (cert?.text === undefined || key?.text === undefined) return { problems };
  return {
    settings: { kind: "listen", ...rest, ...folder, certificate: { certPem: cert.text, keyPem: key.text } },
  };
};
