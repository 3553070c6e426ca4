import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { defaultClients } from "../../fake-server/clients.ts";
import { notification, openSender } from "../../fake-server/receiver/testing/sender.ts";
import { endpointNames } from "../../conformance/contract/forms.ts";
import { listLedger } from "../../conformance/lifetimes/ledger-file.ts";
import {
  gateSubject,
  servedFake,
  type Place,
  type Subject,
} from "../../conformance/testing/reliability/killed.ts";
import { notIn } from "./tried.ts";

/** Objectives that a service meets on any machine. */
const howeverSlow = Object.fromEntries(
  endpointNames.map((endpoint) => [endpoint, { p95Ms: 60_000, p99Ms: 60_000 }]),
);

export const subjects = {
  gate: gateSubject,
  load: async (place: Place): Promise<Subject> => {
    const { profile, ...fake } = await servedFake(place, { slos: { endpoints: howeverSlow } });
    return {
      ...fake,
      command: (out) =>
        "load --scenario token --duration 3s --rate 20".split(" ").concat("--profile", profile, "--out", out),
      longestMs: 5_000,
      expected: [0, 3],
    };
  },
  duet: async (): Promise<Subject> => ({
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
      isEndless: true,
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
