import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { filesBelow } from "../../conformance/testing/temporary-folder.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { k6ForTests, k6WithinMs } from "./testing/k6.ts";
import { playSegments } from "./testing/play-segments.ts";
import { eachTestIn } from "../../conformance/testing/folders.ts";
import { stopAfterEach } from "../../conformance/testing/stopping.ts";
import { profileOf, secretsOf, startFakeServer } from "../../fake-server/index.ts";

let folder: string;
eachTestIn((made) => (folder = made));
const stopping = stopAfterEach();

it(
  "two processes play one load, which merges into one run",
  async () => {
    const { path: k6 } = await k6ForTests();
    const fake = await stopping(startFakeServer({ clockMode: "flowing" }));
    const env = { ...secretsOf(fake), TOUCHSTONE_K6: k6 };
    const profileFile = path.join(folder, "profile.json");
    writeFileSync(profileFile, JSON.stringify(profileOf(fake)));
    const asked = {
      profileFile,
      scenario: "mixed",
      rate: 60,
      seconds: 2,
      processes: 2,
    } as const;
    const { recordOf, played } = await playSegments(folder, asked, env);
    expect(played.map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? "" : stderr])).toEqual(
      played.map(() => [0, ""]),
    );
    for (const file of filesBelow(folder))
      for (const secret of Object.values(secretsOf(fake)))
        expect(readFileSync(path.join(folder, file), "latin1")).not.toContain(secret);

    const out = path.join(folder, "merged");
    const merge = ["merge", recordOf(1), recordOf(2), "--out", out, "--report", "html", "--json"];
    const { exitCode, stdout } = await runHere(merge);
    const record = JSON.parse(stdout) as LoadRecord;
    const page = readFileSync(path.join(`${out}-report`, "report.html"), "utf8");
    const machines = record.merged?.machines ?? [];
    expect(record.rules.filter(({ breaches }) => breaches > 0)).toEqual([]);
    expect(record.rules.reduce((sum, { checks }) => sum + checks, 0)).toBeGreaterThan(0);
    // A machine that is busy with something else cannot keep a schedule; then the run says so, and is not green.
    expect(exitCode).toBe(record.validity?.valid === true ? 0 : 3);
    expect(record.achieved?.arrivals).toBe(machines.reduce((sum, { arrivals = 0 }) => sum + arrivals, 0));
    for (const { arrivals } of machines) expect(arrivals).toBeGreaterThan(0);
    expect(page).toContain("2 machines generated the load");
  },
  k6WithinMs,
);
