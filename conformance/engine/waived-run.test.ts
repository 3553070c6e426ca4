import path from "node:path";
import { describe, expect, it } from "vitest";
import { readGateRun } from "../../reports/read/index.ts";
import { fail, pass } from "../judging/case-verdict.ts";
import { recordedRun } from "./recorded-run.ts";
import type { Rule } from "../checks/rule.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { stopAfterAll } from "../testing/stopping.ts";
import { folderOfFile } from "../testing/folders.ts";

const folder = folderOfFile();
const fake = await stopAfterAll()(startFake());

const breaking: Rule = {
  requirement: "code.single-use",
  check: (_, run) => run.once(() => Promise.resolve(fail("refused", "granted"))),
};
const holding: Rule = {
  requirement: "code.lifetime",
  check: (_, run) => run.once(() => Promise.resolve(pass)),
};

let runs = 0;
const waivedRun = async (rules: readonly Rule[], id: string, expires: string) => {
  const waivers = [{ id, expires, reason: "known", owner: "the team" }];
  const out = path.join(folder, `run-${(runs += 1)}`);
  await recordedRun({ ...runOptions(), out, rules, resolved: await fake.resolved({ waivers }) });
  const { outcome, exitCode, waivers: applied } = (await readGateRun(out)).record;
  return { outcome, exitCode, state: applied[0]?.state };
};

const [past, future] = ["2001-01-01", "2999-12-31"];

describe("a waiver", () => {
  it.each([
    [
      "lets the gate pass despite the breach that it covers",
      [breaking, holding],
      "code.single-use",
      future,
      0,
      "active",
    ],
    ["covers no other breach", [breaking, holding], "push.cap", future, 1, "unused"],
    ["has no effect once it has expired", [breaking], "code.single-use", past, 1, "expired"],
    ["fails the gate if its rule holds again", [holding], "code.lifetime", future, 1, "stale"],
    ["does not fail the gate if its rule was not selected", [holding], "code.single-use", past, 0, "unused"],
  ])("%s", async (_, rules, id, expires, exitCode, state) => {
    expect(await waivedRun(rules, id, expires)).toEqual({
      outcome: exitCode === 0 ? "passed" : "failed",
      exitCode,
      state,
    });
  });
});
