import type { Secrets } from "../../contract/secrets.ts";
import type { Client } from "../../world/target.ts";
import type { World } from "../../world/world.ts";

/**
 * A credential as JSON, with its client reduced to its id: that client's secret is in the profile, which a later run
 * reads too. Undefined if it contains a number that JSON cannot represent.
 */
export const asJson = (credential: unknown): string | undefined => {
  let isFaithful = true;
  const text = JSON.stringify(credential, (key, inner: unknown) => {
    if (typeof inner === "number" && !Number.isFinite(inner)) isFaithful = false;
    return key === "client" && isClient(inner) ? { id: inner.id } : inner;
  });
  return isFaithful ? text : undefined;
};

const isClient = (value: unknown): value is Client =>
  typeof value === "object" && value !== null && "id" in value && "secret" in value;

/**
 * The credential that an earlier run wrote with `asJson`, with its client as the profile has it now, and masked from
 * here on. Undefined if the profile no longer has that client.
 */
export const fromJson = (
  text: string,
  { client, secondClient, secrets }: Pick<World, "client" | "secondClient" | "secrets">,
): unknown => {
  const credential: unknown = JSON.parse(text);
  conceal(credential, secrets);
  if (typeof credential !== "object" || credential === null || !("client" in credential)) return credential;
  const { id } = credential.client as { readonly id?: unknown };
  const known = [client, secondClient].find((one) => one?.id === id);
  return known === undefined ? undefined : { ...credential, client: known };
};

const kinds = { code: "code", accessToken: "access token", refreshToken: "refresh token" } as const;

const conceal = (value: unknown, secrets: Secrets): void => {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    if (typeof inner === "string" && key in kinds) secrets.conceal(inner, kinds[key as keyof typeof kinds]);
    else conceal(inner, secrets);
};
