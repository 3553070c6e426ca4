import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../contract/files.ts";
import { Profile } from "../contract/profile.ts";
import { profileOfAnswers, profileText, type InitAnswers, type InitClient } from "./init-text.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { checkProfile } from "./profile-check.ts";

/** What the flags of `init` say; what they leave out is asked for. */
export interface InitFlags {
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly clientId?: readonly string[] | undefined;
  readonly secretEnv?: readonly string[] | undefined;
  readonly redirectUri?: readonly string[] | undefined;
}

/** Asks the user one question; an empty answer takes what is offered. */
export type Ask = (question: string, offered?: string) => Promise<string>;

const MOST_CLIENTS = 2;

/**
 * What a profile needs, from flags and, where somebody can be asked, from answers. Flags that belong to a
 * client are given once for each, in the same order. Throws ConfigurationError that names what is missing.
 */
export const gatherAnswers = async (flags: InitFlags, ask: Ask | undefined): Promise<InitAnswers> => {
  const { clientId = [], secretEnv = [], redirectUri = [] } = flags;
  const given = Math.max(clientId.length, secretEnv.length, redirectUri.length);
  if (given > MOST_CLIENTS)
    throw new ConfigurationError([
      `--client-id, --secret-env and --redirect-uri say ${given} clients; accepted are one or two`,
    ]);
  const lacking = [
    ...(flags.baseUrl === undefined ? ["--base-url <address>"] : []),
    ...(clientId.length < Math.max(1, given) ? ["--client-id <id>"] : []),
    ...(secretEnv.length < Math.max(1, given) ? ["--secret-env <name>"] : []),
    ...(redirectUri.length < Math.max(1, given) ? ["--redirect-uri <address>"] : []),
  ];
  if (ask === undefined && lacking.length > 0)
    throw new ConfigurationError([
      `init: this is no terminal to ask on, so it needs ${lacking.join(", ")} (each client's once for every client)`,
    ]);
  const answer = async (value: string | undefined, question: string, offered?: string): Promise<string> =>
    value ?? (ask === undefined ? "" : await ask(question, offered));
  const baseUrl = (
    await answer(
      flags.baseUrl,
      "Address of the service, what stands before /open-api/",
      "https://staging.example",
    )
  ).replace(/\/+$/, "");
  const askClient = async (index: number): Promise<InitClient> => ({
    id: await answer(clientId[index], `Id of OAuth client ${index + 1}`, `client-${index + 1}`),
    secretEnv: await answer(
      secretEnv[index],
      `Environment variable that holds its secret`,
      `CLIENT_${index + 1}_SECRET`,
    ),
    redirectUri: await answer(
      redirectUri[index],
      "Its redirectUri, as it was registered",
      "https://client.example/callback",
    ),
  });
  const clients = [await askClient(0)];
  const wantsSecond =
    given === 0 && ask !== undefined
      ? /^y/i.test(await ask("Is there a second client? Some rules compare two", "no"))
      : given === MOST_CLIENTS;
  if (wantsSecond) clients.push(await askClient(1));
  return { ...(flags.name === undefined ? {} : { name: flags.name }), baseUrl, clients };
};

export interface InitFile {
  /** Where the profile goes: .ts with comments, or .json. */
  readonly file: string;
  readonly force: boolean;
  /** Where a profile in TypeScript imports defineProfile from. */
  readonly importFrom: string;
  /** Where the JSON Schema goes, for editors; a profile in JSON then names it. */
  readonly schemaFile?: string | undefined;
}

/** Throws ConfigurationError where the profile may not be written there; best asked before any question is. */
export const checkFile = ({ file, force }: Pick<InitFile, "file" | "force">): void => {
  if (!/\.(ts|mts|json)$/.test(file))
    throw new ConfigurationError([
      `--out is "${file}"; accepted is a name that ends with .ts, .mts or .json`,
    ]);
  if (!force && existsSync(file))
    throw new ConfigurationError([`--out: ${file} exists already; --force replaces it`]);
};

/**
 * Writes the profile, whole or not at all, and never over a file that is there unless that is asked for.
 * Throws ConfigurationError where the answers make no profile or the file cannot be written.
 */
export const writeProfile = (answers: InitAnswers, target: InitFile): void => {
  const { file, schemaFile } = target;
  const profile = checkProfile(profileOfAnswers(answers), "init");
  checkFile(target);
  const $schema =
    schemaFile === undefined ? undefined : relativeTo(path.dirname(path.resolve(file)), schemaFile);
  const text = file.endsWith(".json")
    ? `${JSON.stringify({ ...($schema === undefined ? {} : { $schema }), ...profile }, undefined, 2)}\n`
    : profileText(answers, target.importFrom);
  putInPlace(file, text);
};

export const profileSchema = (): Readonly<Record<string, unknown>> => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Touchstone profile",
  ...(JSON.parse(JSON.stringify(Profile)) as Record<string, unknown>),
});

/** Writes the schema. Throws ConfigurationError where the file cannot be written. */
export const writeSchema = (file: string): void =>
  putInPlace(file, `${JSON.stringify(profileSchema(), undefined, 2)}\n`);

const relativeTo = (folder: string, file: string): string => {
  const relative = path.relative(folder, path.resolve(file));
  return relative.startsWith(".") ? relative : `./${relative}`;
};

const putInPlace = (file: string, text: string): void => {
  const draft = `${file}.part`;
  try {
    writeFileSync(draft, text, { flag: "w" });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new ConfigurationError([`${file} cannot be written: ${fileReason(error)}`]);
  }
};
