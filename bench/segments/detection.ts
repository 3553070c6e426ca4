import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { figure, runCli } from "../../conformance/testing/measure.ts";
import { loadDefects } from "../../fake-server/index.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import {
  machines,
  playSegments,
  startFake,
  type AskedSegments,
} from "../../scenarios/runner/testing/play-segments.ts";

/** What three segments of a load find together on a service. */
const mergedLoad = async (
  behaviour: string,
  asked: Omit<AskedSegments, "profileFile">,
): Promise<LoadRecord> => {
  using folder = temporaryFolder();
  await using fake = await startFake(behaviour);
  listsSoon(fake.profileFile);
  const { recordOf } = await playSegments(folder.path, { ...asked, profileFile: fake.profileFile });
  const out = path.join(folder.path, "merged");
  const { stdout, stderr } = await runCli(["merge", ...machines.map(recordOf), "--out", out, "--json"]);
  if (stdout === "") throw new Error(`no merged run on ${behaviour}: ${stderr}`);
  return JSON.parse(stdout) as LoadRecord;
};

/**
 * As in `load --behaviour`: a load of seconds detects a loss only if it need not wait much longer for late
 * notifications.
 */
const listsSoon = (profileFile: string): void => {
  const profile = JSON.parse(readFileSync(profileFile, "utf8")) as { readonly tolerances?: object };
  const tolerances = { ...profile.tolerances, visibilityMs: 2_500 };
  writeFileSync(profileFile, JSON.stringify({ ...profile, tolerances }));
};

const brokenIn = ({ rules }: LoadRecord): readonly string[] =>
  rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);

/** How much was actually played: a busy machine plays less than requested. */
const playedOf = ({ achieved, validity }: LoadRecord): string =>
  ` in ${achieved?.requests ?? 0} requests${(validity?.reasons ?? []).map(({ reason }) => `; ${reason}`).join("")}`;

const SOUND = "sound";

/**
 * Defects that only load shows, each with three segments of the load meant to show it, and the sound service. `push`
 * runs on one machine. TOUCHSTONE_BENCH_ONLY selects some of them.
 */
export const segmentDetection = async (
  only = process.env["TOUCHSTONE_BENCH_ONLY"]?.split(",") ?? [...Object.keys(loadDefects), SOUND],
): Promise<void> => {
  await tellCaught(only);
  if (only.includes(SOUND)) await tellAlarms();
};

const tellCaught = async (only: readonly string[]): Promise<void> => {
  const tried = Object.entries(loadDefects).filter(
    ([name, { shownBy }]) => only.includes(name) && shownBy.scenario !== "push",
  );
  let caught = 0;
  for (const [name, { breaks, misses, shownBy }] of tried) {
    const record = await mergedLoad(name, shownBy);
    const missed = record.objectives.filter(({ verdict }) => verdict === "breached").map((one) => one.name);
    const unseen = [
      ...breaks.filter((id) => !brokenIn(record).includes(id)),
      ...(misses === undefined || missed.includes(misses) ? [] : [misses]),
    ];
    if (unseen.length === 0) caught += 1;
    else process.stdout.write(`  ${name}: ${unseen.join(", ")} was not seen${playedOf(record)}\n`);
  }
  figure("load defects caught by three segments", `${caught} of ${tried.length}`, "as by one");
};

const tellAlarms = async (): Promise<void> => {
  let alarms = 0;
  for (const scenario of ["token", "notifications", "mixed"])
    alarms += brokenIn(await mergedLoad(SOUND, { scenario, rate: 150, seconds: 6 })).length;
  figure("rules reported as broken by three segments on the sound service", String(alarms), "0");
};
