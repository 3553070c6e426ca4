import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startFakeServer } from "../../../fake-server/index.ts";
import { defaultClients } from "../../../fake-server/clients.ts";
import { secretVariable } from "../../../fake-server/profile.ts";
import { readPushes } from "../../../fake-server/receiver/testing/read-pushes.ts";
import { notification, openSender } from "../../../fake-server/receiver/testing/sender.ts";
import { readRun } from "../../../reports/read/index.ts";
import { listLedger } from "../../lifetimes/store/open.ts";
import { seededRandom } from "../../contract/random.ts";
import { startCli, type Started } from "../start-cli.ts";
import { filesBelow, processesOf } from "./processes.ts";

export const killedKinds = ["gate", "load", "receiver", "duet", "ledger"] as const;
export type KilledKind = (typeof killedKinds)[number];

export interface Killed {
  readonly kills: number;
  /** Runs that ended on their own before they could be killed. */
  readonly tooLate: number;
  readonly wrong: readonly string[];
}

interface Place {
  readonly folder: string;
  /** Where only this run has its temporary files. */
  readonly temporary: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The longest life of a run of each kind, in milliseconds; a run that was not killed by then has ended. */
const livesMs: Readonly<Record<KilledKind, number>> = {
  gate: 2_000,
  load: 5_000,
  receiver: 1_500,
  duet: 6_000,
  ledger: 1_500,
};

/** A fast machine finishes many runs before they are due to be killed; those do not count. */
const MOST_ROUNDS = 10;

/** After this time, in milliseconds, nothing started by a killed run may be alive; k6 gets five seconds to end on its own. */
const ORPHANS_MS = 12_000;

/** Starts runs of one kind and kills each at a random moment; then checks what is left, and runs once more to the end. */
export const killRuns = async (
  kind: KilledKind,
  count: number,
  { seed, k6 }: { readonly seed: number; readonly k6: string },
): Promise<Killed> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-killed-"));
  const temporary = path.join(folder, "temporary");
  mkdirSync(temporary);
  const place: Place = {
    folder,
    temporary,
    env: { TMPDIR: temporary, TOUCHSTONE_K6: k6 },
  };
  const random = seededRandom(seed);
  const wrong: string[] = [];
  let [kills, tooLate] = [0, 0];
  const subject = await subjects[kind](place);
  try {
    for (let round = 0; kills < count && round < count * MOST_ROUNDS; round += 1) {
      const out = path.join(folder, `run-${round}`);
      const run = startCli(subject.command(out), { env: { ...place.env, ...subject.env } });
      const watching = new AbortController();
      const watched = subject.meanwhile?.(run, watching.signal);
      await Promise.race([delay(100 + random() * livesMs[kind]), run.ended]);
      run.child.kill("SIGKILL");
      if ((await run.ended).signal === "SIGKILL") kills += 1;
      else tooLate += 1;
      watching.abort();
      await watched;
      const problems = [
        ...(await orphans(temporary)),
        ...leftSecrets(temporary, subject.secrets),
        ...(await unreadable(out)),
        ...(await subject.after()),
      ];
      wrong.push(...problems.map((problem) => `${kind}, kill ${round} of seed ${seed}: ${problem}`));
    }
    wrong.push(...(await runsOn(kind, subject, place)));
  } finally {
    await subject.stop();
    for (const { pid } of processesOf(temporary)) process.kill(pid, "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
  return { kills, tooLate, wrong };
};

/** The next run works, and cleans up after those that were killed. */
const runsOn = async (kind: KilledKind, subject: Subject, place: Place): Promise<readonly string[]> => {
  const out = path.join(place.folder, "run-last");
  const run = startCli(subject.command(out), { env: { ...place.env, ...subject.env } });
  const end = new AbortController();
  const watched = subject.meanwhile?.(run, end.signal);
  if (kind === "receiver") {
    // It may not be ready to be stopped before it reports where it listens.
    while (run.said().stdout === "" && run.child.exitCode === null) await delay(20);
    await delay(500);
    run.child.kill("SIGTERM");
  }
  const { code } = await run.ended;
  end.abort();
  await watched;
  const left = readdirSync(place.temporary).filter((name) => name.startsWith("touchstone-"));
  return [
    ...(subject.expected.includes(code ?? -1)
      ? []
      : [`the next ${kind} run ends with ${code}: ${run.said().stderr}`]),
    ...(await subject.after()),
    // Only load runs create temporary files, and they look for those of others.
    ...(left.length === 0 ? [] : [`after the next ${kind} run there are still ${left.join(", ")}`]),
  ];
};

const orphans = async (mark: string): Promise<readonly string[]> => {
  for (let waitedMs = 0; waitedMs < ORPHANS_MS; waitedMs += 100) {
    if (processesOf(mark).length === 0) return [];
    await delay(100);
  }
  return processesOf(mark).map(({ pid, argv }) => `process ${pid} lives on: ${argv.replaceAll("\0", " ")}`);
};

const leftSecrets = (folder: string, secrets: readonly string[]): readonly string[] =>
  filesBelow(folder)
    .filter(({ bytes }) => secrets.some((secret) => bytes.includes(secret)))
    .map(({ file }) => `a secret is left in ${file}`);

/** Unreadable records below a folder; a record that was not begun holds nothing yet. */
const unreadable = async (out: string): Promise<readonly string[]> => {
  if (!existsSync(out)) return [];
  const found = readdirSync(out, { recursive: true, withFileTypes: true }).filter(
    ({ name }) => name === "run.json",
  );
  const problems: string[] = [];
  for (const { parentPath } of found)
    try {
      const run = await readRun(parentPath);
      if (run.kind === "conform") for await (const exchange of run.exchanges()) void exchange.n;
      else for await (const second of run.seconds()) void second.second;
      for await (const push of run.pushes()) void push.n;
    } catch (error) {
      problems.push(`the record in ${parentPath} cannot be read: ${String(error)}`);
    }
  return problems;
};

interface Subject {
  readonly command: (out: string) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
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
  change: (profile: Record<string, unknown>) => Record<string, unknown>,
) => {
  const fake = await startFakeServer({});
  const { profileOf } = await import("../../../fake-server/profile.ts");
  const profile = path.join(folder, "profile.json");
  writeFileSync(profile, JSON.stringify(change({ ...profileOf(fake) })));
  const env = Object.fromEntries(fake.clients.map(({ secret }, index) => [secretVariable(index), secret]));
  return { profile, env, secrets: fake.clients.map(({ secret }) => secret), stop: fake.stop };
};

const subjects: Readonly<Record<KilledKind, (place: Place) => Promise<Subject>>> = {
  gate: async (place) => {
    const { profile, ...fake } = await servedFake(place, (whole) => whole);
    return {
      ...nothing,
      ...fake,
      command: (out) => [
        "conform",
        "--profile",
        profile,
        "--effort",
        "quick",
        "--only",
        "code.lifetime,code.single-use,push.delivered,refresh.reusable",
        "--out",
        out,
      ],
      expected: [0],
    };
  },
  load: async () => ({
    ...nothing,
    command: (out) => ["load", "--scenario", "token", "--duration", "3s", "--rate", "20", "--out", out],
    expected: [0, 3],
    secrets: defaultClients.map(({ secret }) => secret),
  }),
  duet: async () => ({
    ...nothing,
    command: (out) => [
      "duet",
      "fake:sound",
      "fake:sound",
      "--pairs",
      "2",
      "--block",
      "2s",
      "--rate",
      "60",
      "--out",
      out,
    ],
    expected: [0, 1, 3],
    secrets: defaultClients.map(({ secret }) => secret),
  }),
  receiver: async ({ folder }) => {
    const journal = path.join(folder, "pushes.jsonl");
    const acknowledged = new Set<string>();
    let sent = 0;
    return {
      ...nothing,
      command: () => ["receive", "--http", "--journal", journal, "--json"],
      expected: [0],
      secrets: [],
      meanwhile: async (run, over) => {
        while (!run.said().stdout.includes("}") && !over.aborted) await delay(10);
        if (over.aborted) return;
        const sender = openSender(JSON.parse(run.said().stdout) as Parameters<typeof openSender>[0]);
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
        const kept = new Set<string>();
        if (existsSync(journal))
          for await (const lines of readPushes(journal))
            for (const line of lines) if (line.kind === "push") kept.add(line.notificationId ?? "");
        const lost = [...acknowledged].filter((id) => !kept.has(id));
        return lost.length === 0 ? [] : [`${lost.length} pushes were acknowledged and are lost: ${lost[0]}`];
      },
    };
  },
  ledger: async (place) => {
    const { profile, env, ...fake } = await servedFake(place, (whole) => ({ ...whole, hooks: undefined }));
    const ledger = path.join(place.folder, "ledger.sqlite");
    const entries = new Set<string>();
    const read = (): readonly string[] =>
      existsSync(ledger)
        ? listLedger(ledger).map((entry) =>
            JSON.stringify([entry.rule, entry.subject, entry.side, entry.issued]),
          )
        : [];
    return {
      ...fake,
      env: { ...env, TOUCHSTONE_LEDGER_KEY: "a key for tests that are killed" },
      command: (out) => [
        "conform",
        "--profile",
        profile,
        "--only",
        "refresh.lifetime",
        "--max-wait",
        "1s",
        "--ledger",
        ledger,
        "--out",
        out,
      ],
      expected: [0, 3],
      meanwhile: async (_, over) => {
        while (!over.aborted) {
          // A reader finds no table just when the file is created, which loses nothing.
          try {
            for (const entry of read()) entries.add(entry);
          } catch {
            await delay(5);
          }
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
};
