import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { requirement, requirementIds } from "../contract/catalogue.ts";
import { root } from "../testing/measure.ts";
import { runHere } from "../testing/run-here.ts";
import { startNode } from "../testing/start-cli.ts";
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

/**
 * A run that kills itself once a few rules have settled: nearly all settle in its last tenth, so that a kill from
 * outside comes too late where this process has to wait for a processor.
 */
const killed = async (run: string): Promise<readonly string[]> => {
  const killing = `
    import { existsSync, readFileSync } from "node:fs";
    const file = ${JSON.stringify(path.join(run, "rules.jsonl"))};
    const settled = () => (existsSync(file) ? readFileSync(file, "utf8").split("\\n").length - 1 : 0);
    setInterval(() => settled() >= 5 && process.kill(process.pid, "SIGKILL"), 2).unref();`;
  const preload = `data:text/javascript,${encodeURIComponent(killing)}`;
  const parameters = ["conform", ...sections, "--out", run];
  const { ended } = startNode(["--import", preload, path.join(root, "cli.ts"), ...parameters]);
  expect(await ended).toMatchObject({ signal: "SIGKILL" });
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
