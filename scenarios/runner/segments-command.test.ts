import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { root, runCli } from "../../conformance/testing/measure.ts";
import { startFakeProcess } from "../../fake-server/index.ts";
import { runnerClock } from "./clock.ts";
import { k6ForTests, k6WithinMs } from "./testing/k6.ts";
import { temporaryFolder } from "./testing/loads.ts";

/** What three processes may take to be ready: a machine that is busy with something else gets longer. */
const leadsMs = [25_000, 150_000];
const LATE = /its set-up outlasted the start/;

const filesBelow = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

const startFake = async () => {
  const fake = await startFakeProcess([process.execPath, path.join(root, "cli.ts")], "sound");
  const { clients } = JSON.parse(readFileSync(fake.profileFile, "utf8")) as {
    readonly clients: readonly { readonly secret: { readonly file: string } }[];
  };
  const secrets = clients.map(({ secret }) =>
    readFileSync(path.resolve(path.dirname(fake.profileFile), secret.file), "utf8").trim(),
  );
  return { profileFile: fake.profileFile, secrets, [Symbol.asyncDispose]: fake.stop };
};

it(
  "three processes play one load; merged it is one run, and without one of them invalid, which is named",
  async () => {
    using folder = temporaryFolder();
    const env = { TOUCHSTONE_K6: (await k6ForTests()).path };
    await using fake = await startFake();
    const playFrom = (lead: number) => {
      const records = path.join(folder.path, `records-${lead}`);
      const recordOf = (index: number): string => path.join(records, String(index));
      const startAt = new Date(runnerClock.wallTime().getTime() + lead).toISOString();
      const play = (index: number) =>
        runCli(
          [
            [
              "load",
              "--profile",
              fake.profileFile,
              "--scenario",
              "mixed",
              "--rate",
              "60",
              "--duration",
              "3s",
            ],
            ["--segment", `${index}/3`, "--run-id", "R", "--start-at", startAt, "--out", recordOf(index)],
          ].flat(),
          { env },
        );
      return { recordOf, played: Promise.all([1, 2, 3].map(play)) };
    };
    let { recordOf, played: playing } = playFrom(leadsMs[0] ?? 0);
    let played = await playing;
    if (played.some(({ exitCode, stdout, stderr }) => exitCode !== 0 && LATE.test(`${stdout}${stderr}`))) {
      ({ recordOf, played: playing } = playFrom(leadsMs[1] ?? 0));
      played = await playing;
    }
    expect(played.map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? "" : stderr])).toEqual(
      played.map(() => [0, ""]),
    );
    expect(fake.secrets).not.toEqual([]);
    for (const file of filesBelow(folder.path))
      for (const secret of fake.secrets) expect(readFileSync(file, "latin1")).not.toContain(secret);

    const merge = async (...of: readonly number[]) => {
      const out = path.join(folder.path, `merged-${of.join("-")}`);
      const run = await runCli(["merge", ...of.map(recordOf), "--out", out, "--report", "html", "--json"]);
      const page = readFileSync(path.join(`${out}-report`, "report.html"), "utf8");
      return { exitCode: run.exitCode, page, record: JSON.parse(run.stdout) as LoadRecord };
    };
    const { exitCode, page, record } = await merge(1, 2, 3);
    const machines = record.merged?.machines ?? [];
    expect(record.rules.filter(({ breaches }) => breaches > 0)).toEqual([]);
    expect(record.rules.reduce((sum, { checks }) => sum + checks, 0)).toBeGreaterThan(50);
    // A machine that is busy with something else cannot keep a schedule; then the run says so, and is not green.
    expect(exitCode).toBe(record.validity?.valid === true ? 0 : 3);
    expect(record.achieved?.arrivals).toBe(machines.reduce((sum, { arrivals = 0 }) => sum + arrivals, 0));
    for (const { arrivals } of machines) expect(arrivals).toBeGreaterThan(0);
    expect(page).toContain("3 machines played the load");

    const lacking = await merge(1, 3);
    expect(lacking.exitCode).toBe(3);
    expect(lacking.page).toContain("segment 2 of 3: its record is missing");
  },
  k6WithinMs,
);
