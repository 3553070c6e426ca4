import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Profile } from "../../conformance/contract/profile.ts";
import { root } from "../../conformance/testing/measure.ts";
import { startFakeProcess } from "../../fake-server/index.ts";
import { k6OfFile, loadHere } from "./testing/load-here.ts";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "../../conformance/testing/servers.ts";
import { runnerClock } from "./clock.ts";

/**
 * Ramps with the real k6: that it ends, and that the record and the exit code say so. A machine busy with other work may
 * end one early; at which rate a ramp ends is judged in `ramp.test.ts`, and what its outcome is in `verdicts.test.ts`,
 * without a clock.
 */

let fake: Awaited<ReturnType<typeof startFakeProcess>>;
const k6 = k6OfFile();
beforeAll(async () => {
  const program = [process.execPath, path.join(root, "cli.ts")] as const;
  fake = await startFakeProcess(program, "load-answers-take-twenty-milliseconds");
});
afterAll(async () => {
  await fake.stop();
});

let ramps = 0;
const ramp = async (rate: number, own: Partial<Profile>, program = k6.path) => {
  ramps += 1;
  const folder = path.dirname(fake.profileFile);
  const [file, out] = [path.join(folder, `profile-${ramps}.json`), path.join(folder, `run-${ramps}`)];
  writeFileSync(file, JSON.stringify({ ...ownProfile(), ...own }));
  const flags = `--scenario token --shape breakpoint --rate ${rate} --duration 15s --warm-up 1s`;
  const { record, exitCode } = await loadHere(program, flags, "--profile", file, "--out", out);
  return { ...record, exitCode };
};

const ownProfile = (): Profile => JSON.parse(readFileSync(fake.profileFile, "utf8")) as Profile;

const everywhere = (objectives: NonNullable<NonNullable<Profile["slos"]>["endpoints"]>["list"] & object) => ({
  endpoints: { authorize: objectives, exchange: objectives, refresh: objectives, list: objectives },
});

it.concurrent("ends where a service with room for sixty requests per second no longer keeps up", async () => {
  await using front = await startNarrowFront(ownProfile().baseUrl, 60);
  const { breakpoint, outcome, exitCode, objectives, stopped } = await ramp(180, { baseUrl: front.baseUrl });
  expect(stopped).toBeUndefined();
  expect(breakpoint?.heldTo).toBeLessThan(130);
  expect(breakpoint?.endedAt).toBeLessThan(180);
  expect(breakpoint?.gaveWay?.verdict ?? outcome).toMatch(/breached|incomplete/);
  // A machine too busy for the lowest rates holds to none.
  const ends = (breakpoint?.heldTo ?? 0) > 0 ? [["passed", 0]] : [["failed", 1]];
  expect([...ends, ["incomplete", 3]]).toContainEqual([outcome, exitCode]);
  const breached = objectives.filter(({ verdict }) => verdict === "breached");
  expect(outcome === "passed" ? breached : []).toEqual([]);
});

it.concurrent("answers with the highest rate asked for if nothing gives way", async () => {
  const { breakpoint, outcome, exitCode } = await ramp(24, {
    slos: everywhere({ p95Ms: 20_000, p99Ms: 20_000 }),
  });
  if (outcome === "incomplete") return;
  expect({ breakpoint, outcome, exitCode }).toEqual({
    breakpoint: { heldTo: expect.closeTo(24, 1) as number, endedAt: expect.closeTo(24, 1) as number },
    outcome: "passed",
    exitCode: 0,
  });
});

it.concurrent("fails if an objective is missed at every rate", async () => {
  const { breakpoint, outcome } = await ramp(60, { slos: everywhere({ p95Ms: 10 }) });
  expect(breakpoint).toMatchObject({ heldTo: 0, gaveWay: { name: expect.stringMatching(/p95$/) as string } });
  expect(["failed", "incomplete"]).toContain(outcome);
});

it.concurrent("gives no verdict on the service if the load generator is stopped again and again", async () => {
  const file = path.join(path.dirname(fake.profileFile), "halting-k6");
  writeFileSync(file, halting(k6.path));
  chmodSync(file, 0o700);
  const record = await ramp(60, { slos: everywhere({ p95Ms: 20_000, p99Ms: 20_000 }) }, file);
  expect(record).toMatchObject({ outcome: "incomplete", exitCode: 3, validity: { valid: false } });
});

/** A k6 that gets no CPU for most of the time, in stops that several iterations fall into. */
const halting = (program: string): string => `#!/bin/sh
if [ "$1" != run ]; then exec ${program} "$@"; fi
${program} "$@" &
k6=$!
trap 'kill -INT $k6' INT
( while sleep 0.3 && kill -STOP $k6; do sleep 1.2; kill -CONT $k6; done ) 2>/dev/null &
wait $k6
`;

/**
 * A service of one worker: requests wait for their turn, and only so many per second are handled, however many come.
 */
const startNarrowFront = async (
  target: string,
  requestsPerSecond: number,
): Promise<AsyncDisposable & { readonly baseUrl: string }> => {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method = "GET", url = "/", headers } = incoming;
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  };
  let freeAtMs = 0;
  const front = await listening(
    createServer((incoming, outgoing) => {
      const nowMs = runnerClock.nowMs();
      freeAtMs = Math.max(nowMs, freeAtMs) + 1_000 / requestsPerSecond;
      runnerClock.after(freeAtMs - nowMs, () => pass(incoming, outgoing));
    }),
  );
  return { baseUrl: `http://127.0.0.1:${front.port}`, [Symbol.asyncDispose]: front.stop };
};
