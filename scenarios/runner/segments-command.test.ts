import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { filesBelow } from "../../conformance/testing/temporary-folder.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { k6ForTests, k6WithinMs } from "./testing/k6.ts";
import { playSegments, startFake } from "./testing/play-segments.ts";
import { eachTestIn } from "../../conformance/testing/folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));

/** The secrets beside the profile that the fake wrote. */
const secretsIn = (profileFile: string): readonly string[] => {
  const { clients } = JSON.parse(readFileSync(profileFile, "utf8")) as {
    readonly clients: readonly { readonly secret: { readonly file: string } }[];
  };
  return clients.map(({ secret }) =>
    readFileSync(path.resolve(path.dirname(profileFile), secret.file), "utf8").trim(),
  );
};

it(
  "two processes play one load, which merges into one run",
  async () => {
    const env = { TOUCHSTONE_K6: (await k6ForTests()).path };
    await using fake = await startFake("sound");
    const asked = {
      profileFile: fake.profileFile,
      scenario: "mixed",
      rate: 60,
      seconds: 3,
      processes: 2,
    } as const;
    const { recordOf, played } = await playSegments(folder, asked, env);
    expect(played.map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? "" : stderr])).toEqual(
      played.map(() => [0, ""]),
    );
    const secrets = secretsIn(fake.profileFile);
    expect(secrets).not.toEqual([]);
    for (const file of filesBelow(folder))
      for (const secret of secrets)
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
