import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { profileOf, secretsOf, startFakeServer } from "../../../fake-server/index.ts";
import { recordFiles } from "../../contract/files.ts";
import { runCli } from "../../testing/measure.ts";
import { startCli } from "../../testing/start-cli.ts";
import { monotonicMs, pause } from "../../world/clock.ts";
import { stopAfterAll } from "../../testing/stopping.ts";
import { folderOfFile } from "../../testing/folders.ts";

const folder = folderOfFile();
const stopping = stopAfterAll();

/** How long codes live, in milliseconds: long enough that starting a process takes a small part of it, even on a busy machine. */
let codeLifetimeMs = 8_000;
beforeAll(async () => {
  const beganMs = monotonicMs();
  await runCli(["rules", "--json"]);
  codeLifetimeMs = Math.min(45_000, Math.max(codeLifetimeMs, 8 * (monotonicMs() - beganMs)));
});

/** A service in real time whose codes live for seconds, and what the command line needs to judge it. */
const service = async (behaviour: string) => {
  const fake = await stopping(
    startFakeServer({ behaviour, clockMode: "flowing", limits: { codeLifetimeMs } }),
  );
  const home = path.join(folder, randomUUID());
  const { hooks: _, ...profile } = profileOf(fake);
  const file = path.join(folder, `${behaviour}.json`);
  writeFileSync(
    file,
    JSON.stringify({
      ...profile,
      limits: { codeLifetimeMs },
      tolerances: { lifetimeGuardMs: 400 },
    }),
  );
  return { file, home, env: { ...secretsOf(fake), XDG_STATE_HOME: home } };
};

type Service = Awaited<ReturnType<typeof service>>;

const keysOf = ({ home }: Service): readonly string[] => {
  const keys = path.join(home, "touchstone", "checkpoints");
  return existsSync(keys) ? readdirSync(keys).map((one) => path.join(keys, one)) : [];
};

/** Starts a run and kills it forcibly a third of a code lifetime after the first code was issued. */
const killedInMidWait = async ({ file, env }: Service, run: string): Promise<void> => {
  const asked = ["conform", "--profile", file, "--only", "code.lifetime", "--seed", "3", "--effort", "quick"];
  const { child, stop } = startCli([...asked, "--max-wait", "3m", "--out", run], { env });
  while (!existsSync(path.join(run, recordFiles.checkpoint)) && child.exitCode === null) await pause(20);
  await pause(codeLifetimeMs / 3);
  await stop("SIGKILL");
};

/** How many codes a run was issued to wait with, and how many of these it finally exchanged. */
const codesOf = (run: string): { readonly issued: number; readonly exchanged: number } => {
  const lines = readFileSync(path.join(run, recordFiles.exchanges), "utf8").split("\n");
  const requestsTo = (place: string): number =>
    lines.filter((line) => line.includes('"rule":"code.lifetime"') && line.includes(place)).length;
  // Each time a client is kept busy meanwhile, it gets two codes, exchanges one, and refreshes once.
  const busy = requestsTo("/refresh-token");
  return { issued: requestsTo("/authorize") - 2 * busy, exchanged: requestsTo("/access-token") - busy };
};

interface Summary {
  readonly outcome: string;
  readonly notes: readonly string[];
  readonly rules: readonly { readonly id: string; readonly verdict: string }[];
}

describe.concurrent("a run in real time that was killed while it waited", () => {
  it.each([
    ["sound", "passed"],
    ["code-lives-eleven-minutes", "failed"],
  ])("resumes with the codes of the fake %s, and ends %s", async (behaviour, outcome) => {
    const target = await service(behaviour);
    const run = path.join(folder, randomUUID());
    await killedInMidWait(target, run);
    const [key = "", ...others] = keysOf(target);
    expect(others).toEqual([]);
    for (const secret of [key, path.join(run, recordFiles.checkpoint)])
      expect(statSync(secret).mode & 0o777).toBe(0o600);

    const next = `${run}-next`;
    const resumed = await runCli(["conform", "--resume", run, "--out", next, "--json"], { env: target.env });
    const summary = JSON.parse(resumed.stdout) as Summary;
    expect(summary.outcome).toBe(outcome);
    const [, waiting] =
      /(\d+) of its cases were waiting with their own credentials and are continued/.exec(
        summary.notes.join("\n"),
      ) ?? [];
    expect(Number(waiting)).toBeGreaterThanOrEqual(4);
    // However often a busy machine repeats a probe, the run exchanges more codes than it was issued: those of the first
    // run.
    const after = codesOf(next);
    expect(codesOf(run).issued).toBeGreaterThanOrEqual(8);
    expect(after.exchanged - after.issued).toBeGreaterThanOrEqual(Number(waiting) / 2);
    // Nothing of it is left, in either folder or among the user's keys.
    expect([run, next].filter((one) => existsSync(path.join(one, recordFiles.checkpoint)))).toEqual([]);
    expect(keysOf(target)).toEqual([]);
  });
});
