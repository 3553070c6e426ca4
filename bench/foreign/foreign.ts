import { mkdirSync } from "node:fs";
import path from "node:path";
import type { RuleDocument } from "../../reports/json/conform.ts";
import { figure, root, runCli, seconds } from "../../conformance/testing/measure.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { documentOf, newClients, rulesOf, SECTIONS, whyTheirs, wordsOf, writeProfile } from "./judging.ts";
import { foreignImplementations, type ForeignImplementation } from "./services.ts";

const cache = path.join(root, "node_modules/.cache/foreign");

const judge = async ({ name, start }: ForeignImplementation) => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const clients = newClients("https://one.example/callback", "https://two.example:8443/back?tenant=2");
  mkdirSync(cache, { recursive: true });
  const service = await start({ clients, cache, folder });
  await using ending = new AsyncDisposableStack();
  ending.defer(async () => void (await service.stop()));
  const { profile, env } = writeProfile(folder, name, clients, service);
  const flags = ["--profile", profile, "--section", SECTIONS, "--json", "--seed", "11"];
  const ran = await runCli(["conform", ...flags, "--out", path.join(folder, "run")], { env });
  return { document: documentOf(ran), wallMs: ran.wallMs };
};

const line = (rule: RuleDocument, examined: ForeignImplementation["examined"]): string => {
  const why = whyTheirs(rule, examined);
  return `  ${rule.verdict.padEnd(13)} ${rule.id}: ${wordsOf(rule)}\n                ${why === undefined ? "NOT EXAMINED" : `theirs: ${why}`}\n`;
};

/** Judges third-party OAuth implementations, and prints what was found in each and whether it was confirmed in their source. */
export const foreign = async (): Promise<void> => {
  let [falseAlarms, undecided] = [0, 0];
  for (const implementation of foreignImplementations) {
    const { document, wallMs } = await judge(implementation);
    const of = (...kinds: RuleDocument["verdict"][]) => rulesOf(document, ...kinds);
    const isUnexplained = (rule: RuleDocument): boolean =>
      whyTheirs(rule, implementation.examined) === undefined;
    const open = of("inconclusive", "could-not-run", "harness-error", "pending");
    falseAlarms += of("failed", "warned").filter(isUnexplained).length;
    undecided += open.filter(isUnexplained).length;
    figure(
      `${implementation.name} (${implementation.language}): ${of("passed").length} passed, ${of("failed").length} failed, ${of("warned").length} warned, ${open.length} undecided`,
      seconds(wallMs),
      "no false alarm",
    );
    for (const rule of [...of("failed", "warned"), ...open])
      process.stdout.write(line(rule, implementation.examined));
  }
  figure("foreign implementations, false alarms", String(falseAlarms), "0 of 4 implementations");
  figure("foreign implementations, rules undecided for no fault of theirs", String(undecided), "0");
};
