import { execFile } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import { hash32 } from "../../conformance/contract/random.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import { figure, runCli } from "../../conformance/testing/measure.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { defects, profileOf, secretsOf, startFakeServer } from "../../fake-server/index.ts";

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
  /** How the standalone script ended against the defect and against the sound service. */
  readonly script: readonly [defect: number, sound: number];
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

/** The exit code of a rule's script against a fresh service with this behaviour. */
const scriptEnds = async (script: string, rule: string, behaviour: string): Promise<number> => {
  const fake = await startFakeServer({ behaviour });
  try {
    const { baseUrl } = profileOf(fake);
    const secrets = Object.values(secretsOf(fake)).map((secret, at) => [`CLIENT_SECRET_${at + 1}`, secret]);
    const mover = path.join(path.dirname(script), "advance.mjs");
    writeFileSync(
      mover,
      `await fetch("${fake.controlUrl}/clock/advance", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ms: Number(process.env.MS) }) });`,
    );
    const env = {
      ...(Object.fromEntries(secrets) as Record<string, string>),
      BASE_URL: baseUrl,
      ADVANCE_COMMAND: `"${process.execPath}" "${mover}"`,
    };
    return await new Promise((resolve) => {
      execFile(process.execPath, [script, rule], { env }, (error) =>
        resolve(typeof error?.code === "number" ? error.code : 0),
      );
    });
  } finally {
    await fake.stop();
  }
};

const play = async (defect: string, folder: string): Promise<readonly Proof[]> => {
  const out = path.join(folder, defect);
  const reports = path.join(folder, `${defect}-report`);
  await runCli(["conform", "--behaviour", defect, "--seed", String(SEED), "--out", out]);
  await runCli(["report", out, "--report", "script", "--out", reports]);
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
    const script = path.join(reports, "failures.mjs");
    proofs.push({
      defect,
      rule,
      exchanges: verdict.breach.evidence.length,
      red,
      replayed: (JSON.parse(stdout) as { answer: string }).answer,
      script: [await scriptEnds(script, rule, defect), await scriptEnds(script, rule, "sound")],
    });
  }
  return proofs;
};

/** A script cannot decide breaches of pushes, which need a receiver, nor those of lists that a fresh service does not hold. */
const scriptMayTell = ({ rule }: Proof): boolean =>
  !["push", "notifications"].includes(catalogue[rule as keyof typeof catalogue].group);

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
  const scripted = all.filter(scriptMayTell);
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
  figure(
    "scripts that fail against the defect and pass against the sound service",
    share(scripted, ({ script: [broken, sound] }) => broken === 1 && sound === 0),
    "all",
  );
  figure(
    "scripts with a wrong answer: 0 against the defect, 1 against the sound service",
    share(scripted, ({ script: [broken, sound] }) => broken === 0 || sound === 1),
    "none",
  );
};
