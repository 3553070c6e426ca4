import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { ConformDocument, RuleDocument } from "../../../reports/json/conform.ts";
import { figure, runCli, seconds } from "../measure.ts";
import {
  cacheFolder,
  foreignImplementations,
  type ForeignClient,
  type ForeignImplementation,
} from "./services.ts";

/** None of the implementations pushes notifications, so pushes are not judged. */
const SECTIONS = "authorize,code,exchange,refresh,access,notifications,whole";

const newClients = (): readonly ForeignClient[] =>
  ["https://one.example/callback", "https://two.example:8443/back?tenant=2"].map((redirectUri) => ({
    id: randomBytes(8).toString("hex"),
    secret: randomBytes(24).toString("base64url"),
    redirectUri,
  }));

const judge = async ({ name, start }: ForeignImplementation) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-foreign-"));
  const clients = newClients();
  mkdirSync(cacheFolder, { recursive: true });
  const service = await start(clients, { cache: cacheFolder, folder });
  try {
    const profile = path.join(folder, "profile.json");
    const secrets = clients.map(({ secret }, index) => [`FOREIGN_SECRET_${index}`, secret] as const);
    const named = clients.map(({ id, redirectUri }, index) => ({
      id,
      redirectUri,
      secret: { env: `FOREIGN_SECRET_${index}` },
    }));
    writeFileSync(profile, JSON.stringify({ ...service.profile, name, clients: named }));
    const flags = ["--profile", profile, "--section", SECTIONS, "--json", "--seed", "11"];
    const out = path.join(folder, "run");
    const { stdout, stderr, wallMs } = await runCli(["conform", ...flags, "--out", out], {
      env: Object.fromEntries(secrets),
    });
    if (stdout === "") throw new Error(`no document for ${name}; standard error: ${stderr}`);
    return { document: JSON.parse(stdout) as ConformDocument, wallMs };
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true });
  }
};

const line = (rule: RuleDocument, examined: ForeignImplementation["examined"]): string => {
  const why = examined[rule.id];
  const seen = rule.breach?.actual ?? rule.reason ?? "";
  return `  ${rule.verdict.padEnd(13)} ${rule.id}: ${seen}\n                ${why === undefined ? "NOT EXAMINED" : `theirs: ${why}`}\n`;
};

/** Judges third-party OAuth implementations, and prints what was found in each and whether it was confirmed in their source. */
export const foreign = async (): Promise<void> => {
  let falseAlarms = 0;
  for (const implementation of foreignImplementations) {
    const { document, wallMs } = await judge(implementation);
    const of = (...kinds: RuleDocument["verdict"][]) =>
      document.rules.filter(({ verdict }) => kinds.includes(verdict));
    const failed = of("failed");
    const alarms = failed.filter(({ id }) => implementation.examined[id] === undefined);
    falseAlarms += alarms.length;
    figure(
      `${implementation.name} (${implementation.language}): ${of("passed").length} passed, ${failed.length} failed, ${of("warned").length} warned`,
      seconds(wallMs),
      "no false alarm",
    );
    for (const rule of of("failed", "warned", "inconclusive", "could-not-run", "harness-error", "pending"))
      process.stdout.write(line(rule, implementation.examined));
  }
  figure(`foreign implementations, false alarms`, String(falseAlarms), "0 of 4 implementations");
};
