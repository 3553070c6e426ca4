import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { ConformDocument, RuleDocument } from "../../reports/json/conform.ts";
import type { Measured } from "../../conformance/testing/measure.ts";
import type { ForeignClient, ForeignImplementation, RunningService } from "./services.ts";

/** None of the implementations pushes notifications, so pushes are not judged. */
export const SECTIONS = "authorize,code,exchange,refresh,access,notifications,whole";

export const newClients = (...redirectUris: readonly string[]): readonly ForeignClient[] =>
  redirectUris.map((redirectUri) => ({
    id: randomBytes(8).toString("hex"),
    secret: randomBytes(24).toString("base64url"),
    redirectUri,
  }));

/** What a user has to judge a service: a profile in a file, and secrets in the environment. */
export const writeProfile = (
  folder: string,
  name: string,
  clients: readonly ForeignClient[],
  service: RunningService,
): { readonly profile: string; readonly env: Readonly<Record<string, string>> } => {
  const profile = path.join(folder, "profile.json");
  const named = clients.map(({ id, redirectUri }, index) => ({
    id,
    redirectUri,
    secret: { env: `FOREIGN_SECRET_${index}` },
  }));
  writeFileSync(profile, JSON.stringify({ ...service.profile, name, clients: named }));
  return {
    profile,
    env: Object.fromEntries(clients.map(({ secret }, index) => [`FOREIGN_SECRET_${index}`, secret])),
  };
};

/** The document that a gate printed. */
export const documentOf = ({
  exitCode,
  stdout,
  stderr,
}: Pick<Measured, "exitCode" | "stdout" | "stderr">): ConformDocument => {
  if (stdout === "") throw new Error(`exit code ${exitCode}, no document: ${stderr}`);
  return JSON.parse(stdout) as ConformDocument;
};

export const rulesOf = (
  { rules }: ConformDocument,
  ...verdicts: readonly RuleDocument["verdict"][]
): readonly RuleDocument[] => rules.filter(({ verdict }) => verdicts.includes(verdict));

/** What a rule saw, or why it could not be judged. */
export const wordsOf = ({ breach, reason }: RuleDocument): string => breach?.actual ?? reason ?? "";

/** What the implementation does wrong by itself, if that is what the verdict says. */
export const whyTheirs = (
  rule: RuleDocument,
  examined: ForeignImplementation["examined"],
): string | undefined => {
  const known = examined[rule.id];
  return known?.seen.test(wordsOf(rule)) === true ? known.theirs : undefined;
};
