import { randomUUID } from "node:crypto";
import { startFakeServer, type FakeServer, type StartOptions } from "../../fake-server/index.ts";
import { profileOf, secretsOf } from "../../fake-server/serve.ts";
import type { ConformOptions } from "../engine/conform.ts";
import type { Profile } from "../contract/profile.ts";
import { checkProfile, resolveProfile } from "../profile/profile.ts";

/** Keys that a test replaces, or makes of the fake's own profile. */
export type ProfileChange = Partial<Profile> | ((own: Profile) => Partial<Profile>);

/** A running fake and the profile that judges it. */
export const startFake = async (options: StartOptions = {}) => {
  const server = await startFakeServer(options);
  return {
    server,
    /** The profile, with a test's changes; with secrets of the fake's clients unless others are given. */
    resolved: (change: ProfileChange = {}, secrets: Record<string, string> = {}) => {
      const own = profileOf(server);
      const changed = { ...own, ...(typeof change === "function" ? change(own) : change) };
      return resolveProfile(checkProfile(changed), { ...secretsOf(server), ...secrets });
    },
    stop: server.stop,
  };
};
export type FakeTarget = Awaited<ReturnType<typeof startFake>>;

/** Moves a fake's clock by its control interface, as somebody does who is no part of a run. */
export const moveFake = async ({ controlUrl }: FakeServer, ms: number): Promise<void> => {
  await fetch(`${controlUrl}/clock/advance`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ms: Math.ceil(ms) }),
  });
};

/** How often a fake's clock was moved so far, and how many events were triggered. */
export const countersOf = async ({
  controlUrl,
}: Pick<FakeServer, "controlUrl">): Promise<{ readonly clockMoves: number; readonly events: number }> => {
  const counters = await fetch(`${controlUrl}/counters`);
  return (await counters.json()) as { readonly clockMoves: number; readonly events: number };
};

/** Options shared by every run of a test, unless overridden. */
export const runOptions = () =>
  ({
    effort: "quick",
    seed: 1,
    strict: false,
    maxWaitMs: 0,
    signal: new AbortController().signal,
    freshUuid: randomUUID,
  }) satisfies Partial<ConformOptions>;
