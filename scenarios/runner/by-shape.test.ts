import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { Profile } from "../../conformance/contract/profile.ts";
import { root, runCli } from "../../conformance/testing/measure.ts";
import { startFakeProcess } from "../../fake-server/index.ts";
import { k6ForTests, k6WithinMs } from "./testing/k6.ts";

/** The search for the highest rate with the real k6, on a service that takes twenty milliseconds for each answer. */

let fake: Awaited<ReturnType<typeof startFakeProcess>>;
let k6: string;
beforeAll(async () => {
  k6 = (await k6ForTests()).path;
  const program = [process.execPath, path.join(root, "cli.ts")] as const;
  fake = await startFakeProcess(program, "load-answers-take-twenty-milliseconds");
}, k6WithinMs);
afterAll(async () => {
  await fake.stop();
});

let searches = 0;
const search = async (endpoints: NonNullable<Profile["slos"]>["endpoints"]) => {
  searches += 1;
  const folder = path.dirname(fake.profileFile);
  const file = path.join(folder, `profile-${searches}.json`);
  const profile = JSON.parse(readFileSync(fake.profileFile, "utf8")) as Profile;
  writeFileSync(file, JSON.stringify({ ...profile, slos: { endpoints } }));
  const run = await runCli(
    "load --json --scenario token --shape breakpoint --rate 20 --duration 10s"
      .split(" ")
      .concat("--profile", file, "--out", path.join(folder, `run-${searches}`)),
    { env: { TOUCHSTONE_K6: k6 } },
  );
  if (run.stdout === "") throw new Error(run.stderr);
  return { ...(JSON.parse(run.stdout) as LoadRecord), exitCode: run.exitCode };
};

/** Steps that say something of the service: a machine that is busy with something else may spoil one. */
const telling = ({ steps = [] }: Pick<LoadRecord, "steps">) =>
  steps.filter(({ verdict }) => verdict !== "spoilt");

it.concurrent("an objective that no rate meets: two tries at the lowest rate that says anything, and what gave way", async () => {
  const record = await search({ list: { p95Ms: 10 } });
  const { highestRate, outcome, exitCode, steps } = record;
  expect({ highestRate, outcome, exitCode }).toEqual({ outcome: "failed", exitCode: 1 });
  // Ten iterations in three seconds, each of some five or six requests.
  expect(steps?.map(({ rate }) => rate)).toEqual([19, 19]);
  for (const step of telling(record))
    expect(step).toMatchObject({
      verdict: "gave way",
      gaveWay: "service",
      reason: expect.stringContaining("list p95") as unknown,
    });
}, 60_000);

const easy = { p95Ms: 20_000, p99Ms: 20_000 };

it.concurrent("objectives that every rate meets: the highest that was asked for", async () => {
  const record = await search({ authorize: easy, exchange: easy, refresh: easy, list: easy });
  const { highestRate, outcome, exitCode, steps, achieved } = record;
  for (const step of telling(record)) expect(step).toMatchObject({ verdict: "held" });
  if (telling(record).length < (steps?.length ?? 0)) return;
  expect({ highestRate, outcome, exitCode }).toEqual({ highestRate: 20, outcome: "passed", exitCode: 0 });
  expect(steps?.map(({ rate }) => rate)).toEqual([19, 20]);
  expect(achieved?.requests).toBeGreaterThan(20);
}, 60_000);
