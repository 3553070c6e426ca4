import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { LoadRecord, SecondLine } from "../../conformance/contract/load-record.ts";
import type { Profile } from "../../conformance/contract/profile.ts";
import { root } from "../../conformance/testing/measure.ts";
import { startFakeProcess } from "../../fake-server/index.ts";
import { currentLeaf, makeCa } from "../../fake-server/receiver/make-certificate.ts";
import { k6OfFile, loadHere } from "./testing/load-here.ts";
import { startNarrowFront } from "./testing/narrow-front.ts";

/** The search for the highest rate with the real k6, on a service that takes twenty milliseconds for each answer. */

let fake: Awaited<ReturnType<typeof startFakeProcess>>;
const k6 = k6OfFile();
beforeAll(async () => {
  const program = [process.execPath, path.join(root, "cli.ts")] as const;
  fake = await startFakeProcess(program, "load-answers-take-twenty-milliseconds");
});
afterAll(async () => {
  await fake.stop();
});

interface Asked {
  readonly rate?: number;
  readonly duration?: string;
  /** Overrides of the fake's own profile. */
  readonly profile: Partial<Profile>;
  readonly k6?: string;
}

let searches = 0;
const search = async ({ rate = 20, duration = "10s", profile, ...more }: Asked) => {
  searches += 1;
  const folder = path.dirname(fake.profileFile);
  const [file, out] = [path.join(folder, `profile-${searches}.json`), path.join(folder, `run-${searches}`)];
  const own = JSON.parse(readFileSync(fake.profileFile, "utf8")) as Profile;
  writeFileSync(file, JSON.stringify({ ...own, ...profile }));
  const flags = `--scenario token --shape breakpoint --rate ${rate} --duration ${duration}`;
  const { record, exitCode } = await loadHere(more.k6 ?? k6.path, flags, "--profile", file, "--out", out);
  const seconds = readFileSync(path.join(out, "samples/seconds.jsonl"), "utf8").trim().split("\n");
  return { ...record, exitCode, course: seconds.map((line) => JSON.parse(line) as SecondLine) };
};

/** Steps with a verdict on the service. A machine busy with other work may spoil one, or make the fake slow. */
const conclusive = ({ steps = [] }: Pick<LoadRecord, "steps">) =>
  steps.filter(({ verdict, reason }) => verdict !== "spoilt" && !reason?.includes("no CPU to spare"));

it.concurrent("an objective that no rate meets fails two steps at the lowest rate, with the cause", async () => {
  const record = await search({ profile: { slos: { endpoints: { list: { p95Ms: 10 } } } } });
  const { highestRate, outcome, exitCode, steps } = record;
  for (const step of conclusive(record))
    expect(step).toMatchObject({
      verdict: "gave way",
      gaveWay: "service",
      reason: expect.stringContaining("list p95") as unknown,
    });
  expect(outcome).not.toBe("passed");
  if (conclusive(record).length < (steps?.length ?? 0)) return;
  expect({ highestRate, outcome, exitCode }).toEqual({ outcome: "failed", exitCode: 1 });
  // Ten iterations in three seconds, each of some five or six requests.
  expect(steps?.map(({ rate }) => rate)).toEqual([20, 20]);
});

const everywhere = (objectives: NonNullable<NonNullable<Profile["slos"]>["endpoints"]>["list"] & object) => ({
  authorize: objectives,
  exchange: objectives,
  refresh: objectives,
  list: objectives,
});
const easy = { p95Ms: 20_000, p99Ms: 20_000 };

it.concurrent("objectives that every rate meets allow the highest requested rate", async () => {
  const record = await search({ rate: 24, profile: { slos: { endpoints: everywhere(easy) } } });
  const { highestRate, outcome, exitCode, steps, achieved, course } = record;
  for (const step of conclusive(record)) expect(step).toMatchObject({ verdict: "held" });
  if (conclusive(record).length < (steps?.length ?? 0)) return;
  // Steps of three seconds, one after another: the search lasts no longer than it was asked to.
  expect(Math.max(...course.map(({ second }) => second))).toBe(3 * (steps ?? []).length - 1);
  expect({ highestRate, outcome, exitCode }).toEqual({ highestRate: 24, outcome: "passed", exitCode: 0 });
  expect(steps?.map(({ rate }) => rate)).toEqual([20, 24]);
  expect(achieved?.requests).toBeGreaterThan(20);
});

it.concurrent("a network that accepts too few connections gives way, and the service does not", async () => {
  const own = JSON.parse(readFileSync(fake.profileFile, "utf8")) as Profile;
  const ca = await makeCa(Date.now());
  const leaf = await currentLeaf(ca, ["127.0.0.1"], Date.now());
  const caFile = path.join(path.dirname(fake.profileFile), "ca.pem");
  writeFileSync(caFile, ca.certPem);
  await using front = await startNarrowFront(own.baseUrl, {
    connectionsPerSecond: 10,
    key: leaf.keyPem,
    cert: leaf.certPem,
  });
  const slos = { endpoints: everywhere({ p95Ms: 500, p99Ms: 20_000 }) };
  const record = await search({
    rate: 80,
    profile: { baseUrl: front.baseUrl, network: { caFile }, slos },
  });
  const { steps = [] } = record;
  const gaveWay = conclusive(record).filter(({ verdict }) => verdict === "gave way");
  for (const step of gaveWay)
    expect(step).toMatchObject({
      gaveWay: "network",
      reason: expect.stringMatching(/waited for connections|waiting for a connection/) as unknown,
    });
  // The lowest rate, twenty requests a second, needs twice as many connections as the front accepts.
  expect(gaveWay.length > 0 || conclusive(record).length < steps.length).toBe(true);
});

it.concurrent("a load generator that is stopped again and again spoils its steps, with no verdict on the service", async () => {
  const file = path.join(path.dirname(fake.profileFile), "halting-k6");
  writeFileSync(file, halting(k6.path));
  chmodSync(file, 0o700);
  const record = await search({
    profile: { slos: { endpoints: everywhere(easy) } },
    k6: file,
    duration: "6s",
  });
  for (const step of record.steps ?? [])
    expect(step).toMatchObject({ verdict: "spoilt", gaveWay: "load generator" });
  expect(record.steps).toHaveLength(2);
  expect(record).toMatchObject({ outcome: "incomplete", exitCode: 3 });
});

/**
 * A k6 that gets no CPU for most of the time, in stops that several iterations fall into: whichever a busy machine lets
 * happen in a step of three seconds, some begin late.
 */
const halting = (program: string): string => `#!/bin/sh
if [ "$1" != run ]; then exec ${program} "$@"; fi
${program} "$@" &
k6=$!
trap 'kill -INT $k6' INT
( while sleep 0.3 && kill -STOP $k6; do sleep 1.2; kill -CONT $k6; done ) 2>/dev/null &
wait $k6
`;
