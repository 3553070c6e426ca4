import { mkdirSync } from "node:fs";
import path from "node:path";
import type { RuleDocument } from "../../reports/json/conform.ts";
import { figure, root, runCli, seconds } from "../../conformance/testing/measure.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { isAsked } from "../asked.ts";
import { documentOf, newClients, rulesOf, SECTIONS, whyTheirs, wordsOf, writeProfile } from "./judging.ts";
import { behindNginx, hasNginx, ofNginx } from "./nginx.ts";
import { foreignImplementations } from "./implementations.ts";
import type { ForeignImplementation } from "./services.ts";

const cache = path.join(root, "node_modules/.cache/foreign");

type Front = "alone" | "behind nginx";

const judge = async ({ name, start }: ForeignImplementation, front: Front) => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const clients = newClients("https://one.example/callback", "https://two.example:8443/back?tenant=2");
  mkdirSync(cache, { recursive: true });
  const service = await start({ clients, cache, folder });
  await using ending = new AsyncDisposableStack();
  ending.defer(async () => void (await service.stop()));
  const judged = front === "alone" ? service : await behindNginx(service, folder);
  if (judged !== service) ending.defer(async () => void (await judged.stop()));
  const { profile, env } = writeProfile(folder, name, clients, judged);
  const flags = ["--profile", profile, "--section", SECTIONS, "--json", "--seed", "11"];
  const ran = await runCli(["conform", ...flags, "--out", path.join(folder, "run")], { env });
  return { document: documentOf(ran), wallMs: ran.wallMs };
};

const line = (rule: RuleDocument, why: string | undefined): string =>
  `  ${rule.verdict.padEnd(13)} ${rule.id}: ${wordsOf(rule)}\n                ${why === undefined ? "NOT EXAMINED" : `theirs: ${why}`}\n`;

/**
 * Judges third-party OAuth implementations, alone and behind nginx with its limiter, and prints what was found in each
 * and whether it was confirmed in their source. `FOREIGN_NAMES` and `FOREIGN_FRONTS` choose some, by their first words.
 */
export const foreign = async (): Promise<void> => {
  let [falseAlarms, undecided] = [0, 0];
  const fronts = (["alone", ...(hasNginx ? ["behind nginx" as const] : [])] as const).filter((front) =>
    isAsked("FOREIGN_FRONTS", front),
  );
  if (!hasNginx) process.stdout.write("nginx is not installed: nothing is judged behind it\n");
  const chosen = foreignImplementations.filter(({ name }) => isAsked("FOREIGN_NAMES", name));
  if (chosen.length === 0 || fronts.length === 0)
    throw new Error(
      `FOREIGN_NAMES or FOREIGN_FRONTS chooses nothing. They take names or first words of "alone", "behind nginx"${foreignImplementations.map(({ name }) => `, "${name}"`).join("")}`,
    );
  for (const implementation of chosen)
    for (const front of fronts) {
      const { document, wallMs } = await judge(implementation, front);
      const of = (...kinds: RuleDocument["verdict"][]) => rulesOf(document, ...kinds);
      const whyNotOurs = (rule: RuleDocument): string | undefined =>
        whyTheirs(rule, implementation.examined) ??
        (front === "alone" ? undefined : whyTheirs(rule, ofNginx));
      const isUnexplained = (rule: RuleDocument): boolean => whyNotOurs(rule) === undefined;
      const open = of("inconclusive", "could-not-run", "harness-error", "pending");
      falseAlarms += of("failed", "warned").filter(isUnexplained).length;
      undecided += open.filter(isUnexplained).length;
      figure(
        `${implementation.name} (${implementation.language}) ${front}: ${of("passed").length} passed, ${of("failed").length} failed, ${of("warned").length} warned, ${open.length} undecided`,
        seconds(wallMs),
        "no false alarm",
      );
      for (const rule of [...of("failed", "warned"), ...open])
        process.stdout.write(line(rule, whyNotOurs(rule)));
    }
  const count = `${chosen.length} implementations, ${fronts.join(" and ")}`;
  figure(`foreign implementations, false alarms of ${count}`, String(falseAlarms), "0");
  figure("foreign implementations, rules undecided for no fault of theirs", String(undecided), "0");
};
