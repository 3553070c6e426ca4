import { appendFileSync, readFileSync } from "node:fs";
import path from "node:path";
import { requirementIds } from "../conformance/contract/catalogue.ts";
import { hash32 } from "../conformance/contract/random.ts";
import type { RuleResult } from "../conformance/contract/record.ts";
import { figure, runCli } from "../conformance/testing/measure.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";
import { defects } from "../fake-server/index.ts";

/**
 * How many defects are played (default 20; `all` plays one for each rule that has any), the seed that draws them, and a
 * file that gets a line of JSON per broken rule that was to be found.
 */
const ASKED = process.env["TOUCHSTONE_PROOFS"] ?? "20";
const SEED = Number(process.env["TOUCHSTONE_PROOFS_SEED"] ?? "1");
const RECORD = process.env["TOUCHSTONE_PROOFS_RECORD"];

/** What the report of one gate says about a rule that its defect breaks. */
interface Proof {
  readonly defect: string;
  readonly rule: string;
  readonly exchanges: number;
  /** Rules that are red in the same gate. */
  readonly red: number;
  /** What `replay` answered. */
  readonly replayed: string;
}

/** A defect for each rule, drawn by the seed, in an order drawn by it too. */
const drawn = (): readonly string[] => {
  const least = <T>(items: readonly T[], nameOf: (item: T) => string): readonly T[] =>
    items.toSorted((a, b) => hash32(`${SEED}:${nameOf(a)}`) - hash32(`${SEED}:${nameOf(b)}`));
  const ofRule = requirementIds.flatMap((id) => {
    const breaking = Object.entries(defects).flatMap(([name, { breaks }]) =>
      breaks[0] === id ? [name] : [],
    );
    return least(breaking, String).slice(0, 1);
  });
  return least(ofRule, String).slice(0, ASKED === "all" ? ofRule.length : Number(ASKED));
};

const play = async (defect: string, folder: string): Promise<readonly Proof[]> => {
  const out = path.join(folder, defect);
  await runCli(["conform", "--behaviour", defect, "--seed", String(SEED), "--out", out]);
  const rules = readFileSync(path.join(out, "rules.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RuleResult);
  const red = rules.filter(({ verdict }) => verdict.kind === "failed").length;
  const proofs: Proof[] = [];
  for (const rule of defects[defect]?.breaks ?? []) {
    const verdict = rules.find(({ id }) => id === rule)?.verdict;
    if (verdict?.kind !== "failed" && verdict?.kind !== "warned") continue;
    const { stdout } = await runCli(["replay", out, rule, "--json"]);
    proofs.push({
      defect,
      rule,
      exchanges: verdict.breach.evidence.length,
      red,
      replayed: (JSON.parse(stdout) as { answer: string }).answer,
    });
  }
  return proofs;
};

const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(share * numbers.length))] ?? 0;

/** Whether the proof of a red rule is short, and shows the defect again: one whole gate for each defect. */
export const proofs = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const all: Proof[] = [];
  for (const defect of drawn()) {
    const found = await play(defect, temporary.path);
    all.push(...found);
    if (RECORD !== undefined) for (const proof of found) appendFileSync(RECORD, `${JSON.stringify(proof)}\n`);
  }
  const counts = all.map(({ exchanges }) => exchanges);
  const share = (some: readonly Proof[], holds: (proof: Proof) => boolean): string =>
    `${some.filter(holds).length} of ${some.length}`;
  figure("exchanges in the proof of a rule that a defect breaks: median", String(quantile(counts, 0.5)), "4");
  figure(
    "  the same: 90th percentile; greatest",
    `${quantile(counts, 0.9)}; ${quantile(counts, 1)}`,
    "10; 40",
  );
  figure(
    "replays that say that it still fails",
    share(all, ({ replayed }) => replayed === "still fails"),
    "all",
  );
};
