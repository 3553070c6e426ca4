import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { k6OfFile, loadHere } from "./testing/load-here.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

/**
 * Defects that only load shows, each found under the rule that it breaks and under no other. All of them are tried by
 * `npm run bench -- load-detect`; here are one that the script finds, and one that the receiver's journal shows.
 */

const folder = folderOfFile();
const k6 = k6OfFile();

/** Sequential: concurrent loads would compete for the processor. */
describe("a load finds defects that show only under load, with masked evidence and the same result in its record", () => {
  it.for([
    ["token", 400, 3, "load-answers-swapped", "authorize.echoes-state"],
    ["push", 150, 4, "load-push-outbox-overflows", "push.delivered"],
  ] as const)(
    "%s at %i requests per second for %i s: %s under %s",
    async ([scenario, rate, seconds, behaviour, rule]) => {
      const out = path.join(folder, scenario);
      const flags = `--behaviour ${behaviour} --scenario ${scenario} --rate ${rate} --duration ${seconds}s`;
      const { exitCode, record } = await loadHere(k6.path, `${flags} --seed 1 --warm-up 1s`, out);
      const written = JSON.parse(readFileSync(path.join(out, "run.json"), "utf8")) as LoadRecord;
      const { rules, breaches, validity } = record;
      const broken = rules.filter((rule) => rule.breaches > 0).map(({ id }) => id);
      const isBlamed = validity?.reasons.some(({ cause }) => cause === "load generator") === true;
      // A load that this machine could not generate may find nothing; then the run is incomplete.
      const isMissed = isBlamed && broken.length === 0;
      expect(broken).toEqual(isMissed ? [] : [rule]);
      const state = isMissed
        ? { state: "sealed", outcome: "incomplete", exitCode: 3 }
        : { state: "sealed", outcome: "failed", exitCode: 1 };
      expect([exitCode, written]).toMatchObject([state.exitCode, state]);
      expect(breaches.map((breach) => breach.rule)).toEqual(broken);
      const kept = readFileSync(path.join(out, "breaches.jsonl"), "utf8").trim().split("\n").filter(Boolean);
      const keptRules = kept.map((line) => (JSON.parse(line) as LoadRecord["breaches"][number]).rule);
      expect([...new Set(keptRules)]).toEqual(broken);
      // Pushes contain no secret.
      for (const breach of breaches.filter((one) => one.rule.startsWith("authorize.")))
        expect(JSON.stringify(breach)).toContain("‹");
    },
  );
});
