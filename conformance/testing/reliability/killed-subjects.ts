import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { profileOf, secretsOf, startFakeServer } from "../../../fake-server/index.ts";
import { defaultClients } from "../../../fake-server/clients.ts";
import { notification, openSender } from "../../../fake-server/receiver/testing/sender.ts";
import { endpointNames } from "../../contract/forms.ts";
import type { Profile } from "../../contract/profile.ts";
import { listLedger } from "../../lifetimes/ledger-file.ts";
import type { Started } from "../start-cli.ts";
import { notIn } from "../../../bench/reliability/tried.ts";

export interface Place {
  readonly folder: string;
  /** Where only this run has its temporary files. */
  readonly temporary: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Subject {
  readonly command: (out: string) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** The longest life of a run, in milliseconds; one that was not killed by then has ended. */
  readonly longestMs: number;
  /** Exit codes of an undisturbed run. */
  readonly expected: readonly number[];
  readonly secrets: readonly string[];
  /** What others do while the run is alive. */
  readonly meanwhile?: (run: Started, over: AbortSignal) => Promise<void>;
  /** What is wrong with what the run should keep. */
  readonly after: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

const nothing = { after: () => Promise.resolve([]), stop: () => Promise.resolve() };

/** A fake that outlives the killed runs, and a profile for it whose secret is in the environment. */
const servedFake = async (
  { folder }: Place,
  replaces: { readonly hooks?: undefined; readonly slos?: Profile["slos"] } = {},
) => {
  const fake = await startFakeServer({});
  const profile = path.join(folder, "profile.json");
  writeFileSync(profile, JSON.stringify({ ...profileOf(fake), ...replaces }));
  return {
    profile,
    env: secretsOf(fake),
    secrets: fake.clients.map(({ secret }) => secret),
    stop: fake.stop,
  };
};

/** Objectives that a service meets on any machine. */
const howeverSlow = Object.fromEntries(
  endpointNames.map((endpoint) => [endpoint, { p95Ms: 60_000, p99Ms: 60_000 }]),
);

export const subjects = {
  gate: async (place: Place): Promise<Subject> => {
    const { profile, ...fake } = await servedFake(place);
    return {
      ...nothing,
      ...fake,
      command: (out) =>
        "conform --effort quick --only code.lifetime,code.single-use,push.delivered,refresh.reusable"
          .split(" ")
          .concat("--profile", profile, "--out", out),
      longestMs: 2_000,
      expected: [0],
    };
  },
  load: async (place: Place): Promise<Subject> => {
    const { profile, ...fake } = await servedFake(place, { slos: { endpoints: howeverSlow } });
    return {
      ...nothing,
      ...fake,
      command: (out) =>
        "load --scenario token --duration 3s --rate 20".split(" ").concat("--profile", profile, "--out", out),
      longestMs: 5_000,
      expected: [0, 3],
    };
  },
  duet: async (): Promise<Subject> => ({
    ...nothing,
    command: (out) =>
      "duet fake:sound fake:sound --pairs 2 --block 2s --rate 60".split(" ").concat("--out", out),
    longestMs: 6_000,
    expected: [0, 1, 3],
    secrets: defaultClients.map(({ secret }) => secret),
  }),
  receiver: async ({ folder }: Place): Promise<Subject> => {
    const journal = path.join(folder, "pushes.jsonl");
    const acknowledged = new Set<string>();
    let sent = 0;
    return {
      ...nothing,
      command: () => ["receive", "--http", "--journal", journal, "--json"],
      longestMs: 1_500,
      expected: [0],
      secrets: [],
      meanwhile: async (run, over) => {
        // It may be killed before it listens.
        const receiver = await run.document().catch(() => undefined);
        if (receiver === undefined) return;
        const sender = openSender(receiver as Parameters<typeof openSender>[0]);
        const push = async (): Promise<void> => {
          while (!over.aborted) {
            const id = `push-${(sent += 1)}`;
            const answer = await sender.send(notification(id));
            if (answer.outcome !== "answered") return;
            if (answer.status === 200 && answer.whole) acknowledged.add(id);
          }
        };
        await Promise.all(Array.from({ length: 8 }, push));
        sender.close();
      },
      after: async () => {
        const lost = await notIn(journal, acknowledged);
        return lost.length === 0 ? [] : [`${lost.length} pushes were acknowledged and are lost: ${lost[0]}`];
      },
    };
  },
  ledger: async (place: Place): Promise<Subject> => {
    const { profile, env, ...fake } = await servedFake(place, { hooks: undefined });
    const ledger = path.join(place.folder, "ledger");
    const key = "a key for tests that are killed";
    const entries = new Set<string>();
    const read = (): readonly string[] =>
      existsSync(ledger)
        ? listLedger(ledger, () => key).map((entry) =>
            JSON.stringify([entry.rule, entry.subject, entry.nth, entry.life]),
          )
        : [];
    return {
      ...fake,
      env: { ...env, TOUCHSTONE_LEDGER_KEY: key },
      command: (out) =>
        "conform --only refresh.lifetime --max-wait 1s"
          .split(" ")
          .concat("--profile", profile, "--ledger", ledger, "--out", out),
      longestMs: 1_500,
      expected: [0, 3],
      meanwhile: async (_, over) => {
        while (!over.aborted) {
          for (const entry of read()) entries.add(entry);
          await delay(20);
        }
      },
      after: async () => {
        const now = new Set(read());
        const lost = [...entries].filter((entry) => !now.has(entry));
        return lost.length === 0 ? [] : [`${lost.length} entries of the ledger are lost: ${lost[0]}`];
      },
    };
  },
} satisfies Readonly<Record<string, (place: Place) => Promise<Subject>>>;
export type KilledKind = keyof typeof subjects;
