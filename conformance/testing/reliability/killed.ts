import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { profileOf, secretsOf, startFakeServer } from "../../../fake-server/index.ts";
import { readRun } from "../../../reports/read/index.ts";
import type { Profile } from "../../contract/profile.ts";
import { seededRandom } from "../../contract/random.ts";
import { startCli, type Started } from "../start-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { filesBelow, processesOf } from "./processes.ts";

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
  readonly after?: () => Promise<readonly string[]>;
  readonly stop?: () => Promise<void>;
  /** Whether a run goes on until it is stopped. */
  readonly isEndless?: true;
}

/** A fake that outlives the killed runs, and a profile for it whose secret is in the environment. */
export const servedFake = async (
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

export const gateSubject = async (place: Place): Promise<Subject> => {
  const { profile, ...fake } = await servedFake(place);
  return {
    ...fake,
    command: (out) =>
      "conform --effort quick --only code.lifetime,code.single-use,push.delivered,refresh.reusable"
        .split(" ")
        .concat("--profile", profile, "--out", out),
    longestMs: 2_000,
    expected: [0],
  };
};

/** A fast machine finishes many runs before they are due to be killed; those do not count. */
const MOST_ROUNDS = 10;

/** After this time, in milliseconds, nothing started by a killed run may be alive; k6 gets five seconds to end on its own. */
const ORPHANS_MS = 12_000;

/**
 * Starts runs of one kind and kills each at a random moment; then checks what is left, and runs once more to the end.
 * Runs that ended on their own before they could be killed are `tooLate`.
 */
export const killRuns = async (
  kind: string,
  open: (place: Place) => Promise<Subject>,
  count: number,
  { seed, k6 }: { readonly seed: number; readonly k6: string },
) => {
  using own = temporaryFolder();
  const folder = own.path;
  const temporary = path.join(folder, "temporary");
  mkdirSync(temporary);
  const place: Place = { folder, temporary, env: { TMPDIR: temporary, TOUCHSTONE_K6: k6 } };
  const random = seededRandom(seed);
  const wrong: string[] = [];
  let [kills, tooLate] = [0, 0];
  const subject = await open(place);
  try {
    for (let round = 0; kills < count && round < count * MOST_ROUNDS; round += 1) {
      const out = path.join(folder, `run-${round}`);
      const { signal } = await lived(subject, place, out, async (run) => {
        await Promise.race([delay(100 + random() * subject.longestMs), run.ended]);
        run.child.kill("SIGKILL");
      });
      if (signal === "SIGKILL") kills += 1;
      else tooLate += 1;
      const problems = [
        ...(await orphans(temporary)),
        ...leftSecrets(temporary, subject.secrets),
        ...(await unreadable(out)),
        ...((await subject.after?.()) ?? []),
      ];
      wrong.push(...problems.map((problem) => `${kind}, kill ${round} of seed ${seed}: ${problem}`));
    }
    wrong.push(...(await runsOn(kind, subject, place)));
  } finally {
    await subject.stop?.();
    for (const { pid } of processesOf(temporary)) process.kill(pid, "SIGKILL");
  }
  return { kills, tooLate, wrong };
};

/** How much of a report explains its exit code, in characters. */
const LAST_SAID = 3_000;

/** The end of a run, and of what others do while it is alive. */
const lived = async (
  subject: Subject,
  place: Place,
  out: string,
  during: (run: Started) => Promise<void>,
): Promise<Awaited<Started["ended"]> & { readonly said: string }> => {
  const run = startCli(subject.command(out), { env: { ...place.env, ...subject.env } });
  const over = new AbortController();
  const watched = subject.meanwhile?.(run, over.signal);
  await during(run);
  const ended = await run.ended;
  over.abort();
  await watched;
  const { stdout, stderr } = run.said();
  return { ...ended, said: `${stdout.slice(-LAST_SAID)}${stderr}` };
};

/** The next run works, and cleans up after those that were killed. */
const runsOn = async (kind: string, subject: Subject, place: Place): Promise<readonly string[]> => {
  const { code, said } = await lived(subject, place, path.join(place.folder, "run-last"), async (run) => {
    if (subject.isEndless !== true) return;
    // It may not be ready to be stopped before it reports where it listens.
    await run.document().catch(() => undefined);
    await delay(500);
    run.child.kill("SIGTERM");
  });
  const left = readdirSync(place.temporary).filter((name) => name.startsWith("touchstone-"));
  return [
    ...(subject.expected.includes(code ?? -1) ? [] : [`the next ${kind} run ends with ${code}: ${said}`]),
    ...((await subject.after?.()) ?? []),
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
