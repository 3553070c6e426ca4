import type { Secrets } from "../../contract/secrets.ts";
import type { TimeInterval } from "../../judging/interval.ts";
import { objectOf } from "../../world/exchange.ts";
import { coarsenessMs, instantMs } from "../../world/hooks/hooks.ts";
import { obtainTokens } from "../../world/steps.ts";
import type { Client } from "../../world/target.ts";
import type { World } from "../../world/world.ts";
import type { Store } from "../store/store.ts";

export interface LedgerAccess {
  readonly store: Store;
  /** This machine's wall clock, in milliseconds since 1970. */
  readonly hereMs: () => number;
}

export interface LedgerSession extends LedgerAccess {
  /** Entries of other targets are left alone; see `ledgerTarget`. */
  readonly target: string;
  /** How long this run may wait for a credential's end, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Identifies a target by its address and client. */
export const ledgerTarget = (baseUrl: string, clientId: string): string =>
  `${baseUrl.replace(/\/+$/, "")} ${clientId}`;

/**
 * The target's own time by an answer's timestamp (section 2.2), to the precision of its unit; this machine's time,
 * within a second, if the answer has none.
 */
export const targetNow = async ({ hereMs }: LedgerAccess, world: World): Promise<TimeInterval> => {
  const told = objectOf((await obtainTokens(world)).answer)["timestamp"];
  const earliestMs = instantMs(told);
  return earliestMs === undefined
    ? { earliestMs: hereMs() - 1_000, latestMs: hereMs() + 1_000 }
    : { earliestMs, latestMs: earliestMs + Math.max(1, coarsenessMs(told)) };
};

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
