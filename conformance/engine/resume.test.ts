import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { requirement, requirementIds } from "../contract/catalogue.ts";
import { runHere } from "../testing/run-here.ts";
import { startCli } from "../testing/start-cli.ts";
import { folderOfFile } from "../testing/folders.ts";

const folder = folderOfFile();
const sections = ["--section", "exchange,refresh", "--effort", "standard", "--seed", "4"];

const settledIn = (run: string): readonly string[] => {
  const file = path.join(run, "rules.jsonl");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);
};

/** Starts a run and kills it once a few rules have settled. */
const killed = async (run: string): Promise<readonly string[]> => {
  const { child, stop } = startCli(["conform", ...sections, "--out", run]);
  while (settledIn(run).length < 5 && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await stop("SIGKILL");
  return settledIn(run);
};

describe("conform --resume", () => {
  it("continues a killed run with what had not settled, to a result for every selected rule", async () => {
    const run = path.join(folder, "killed");
    const before = await killed(run);
    expect(before.length).toBeGreaterThanOrEqual(5);
    const next = path.join(folder, "next");
    const resumed = await runHere(["conform", "--resume", run, "--out", next, "--json"]);
    expect(resumed.stderr).toBe("");
    const document = JSON.parse(resumed.stdout) as {
      seed: number;
      outcome: string;
      notes: string[];
      rules: { id: string }[];
    };
    expect(document).toMatchObject({ seed: 4, outcome: "passed" });
    expect(document.notes.join(" ")).toContain(
      `continues ${run}, which was interrupted: ${before.length} of its results`,
    );
    const asked = requirementIds.filter(
      (id) =>
        ["exchange", "refresh"].includes(requirement(id).group) && requirement(id).level !== "untestable",
    );
    expect(document.rules.map(({ id }) => id).toSorted()).toEqual(asked.toSorted());
    const again = await runHere(["conform", "--resume", next]);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toMatch(/--resume .*next: it is complete \(passed\)/);
  });
});
