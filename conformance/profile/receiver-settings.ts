import { given } from "../contract/given.ts";
import type { Profile } from "../contract/profile.ts";
import type { Problems } from "./profile-problems.ts";
import { readSecretFile, readText, type SecretReader } from "./profile-secret.ts";
import type { ReceiverAccess } from "../world/receiver.ts";

type Listen = Extract<NonNullable<Profile["receiver"]>, { listen: unknown }>["listen"];

/** How a run gets its receiver: one that runs elsewhere, or one started with these settings. */
export type ReceiverSettings =
  | ({ readonly kind: "attach" } & ReceiverAccess)
  | ({
      readonly kind: "listen";
      readonly certificate?: { readonly certPem: string; readonly keyPem: string };
    } & Readonly<Omit<Listen, "certificate">>);

/** The receiver that a profile names, with its secrets and files fetched, as far as available. */
export const resolveReceiver = async (
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
