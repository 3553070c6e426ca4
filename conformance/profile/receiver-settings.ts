import path from "node:path";
import type { Profile } from "../contract/profile.ts";
import type { Problems } from "./profile-problems.ts";
import { readSecretFile, readText, type SecretReader } from "./profile-secret.ts";
import type { ReceiverAccess } from "../world/receiver.ts";

/** How a run gets its receiver: one that runs elsewhere, or one started with these settings. */
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
 * The receiver that a profile names, with its secrets and files fetched, as far as available. Files are relative to the
 * profile.
 */
export const resolveReceiver = async (
  { receiver }: Profile,
  readSecret: SecretReader,
  source: string | undefined,
  problems: Problems,
): Promise<ReceiverSettings> => {
  if (receiver === undefined) return { kind: "listen" };
  if ("attach" in receiver) {
    const { controlUrl, token: where } = receiver.attach;
    const token =
      where === undefined
        ? undefined
        : await problems.attempt(["receiver", "attach", "token"], () => readSecret(where));
    return { kind: "attach", controlUrl, ...(token === undefined ? {} : { token }) };
  }
  const { certificate, certificateFolder, ...rest } = receiver.listen;
  const beside = (file: string): string => path.resolve(path.dirname(source ?? "."), file);
  const folder = certificateFolder === undefined ? {} : { certificateFolder: beside(certificateFolder) };
  if (certificate === undefined) return { kind: "listen", ...rest, ...folder };
  const at = ["receiver", "listen", "certificate"];
  const certPem = await problems.attempt([...at, "certFile"], () => readText(beside(certificate.certFile)));
  const keyPem = await problems.attempt([...at, "keyFile"], () =>
    readSecretFile(beside(certificate.keyFile)),
  );
  const pair = certPem === undefined || keyPem === undefined ? {} : { certificate: { certPem, keyPem } };
  return { kind: "listen", ...rest, ...folder, ...pair };
};
