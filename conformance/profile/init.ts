import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { given } from "../contract/given.ts";
import { fileReason } from "../contract/files.ts";
import { jsonFile } from "../contract/harmless-text.ts";
import { fieldOf, parseJson } from "../contract/json.ts";
import { replaceFile } from "../files/replace.ts";
import { Profile } from "../contract/profile.ts";
import { profileText, type MinimalProfile } from "./init-text.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { questions, type Question } from "./init-questions.ts";
import { moduleTypeAt } from "./profile-place.ts";
import { checkProfile } from "./profile-check.ts";

export interface InitFlags {
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly clientId?: readonly string[] | undefined;
  readonly secretEnv?: readonly string[] | undefined;
  readonly redirectUri?: readonly string[] | undefined;
}

/** Asks the user one question; an empty answer means the offered one. */
export type Ask = (question: string, offered: string) => Promise<string>;

export interface Talk {
  readonly ask: Ask;
  /** Says what is wrong with an answer before asking again. */
  readonly tell: (problem: string) => void;
}

const MOST_CLIENTS = 2;

/**
 * Collects what a profile needs from flags and, if somebody can be asked, from answers; wrong answers are asked again.
 * Flags of clients are given once per client, in the same order. Throws ConfigurationError that names what is missing
 * or wrong.
 */
export const gatherAnswers = async (flags: InitFlags, talk: Talk | undefined): Promise<MinimalProfile> => {
  const { clientId = [], secretEnv = [], redirectUri = [] } = flags;
  const count = Math.max(clientId.length, secretEnv.length, redirectUri.length);
  if (count > MOST_CLIENTS)
    throw new ConfigurationError([
      `--client-id, --secret-env and --redirect-uri give ${count} clients; accepted are one or two`,
    ]);
  const lacking = [
    ...(flags.baseUrl === undefined ? ["--base-url <address>"] : []),
    ...(clientId.length < Math.max(1, count) ? ["--client-id <id>"] : []),
    ...(secretEnv.length < Math.max(1, count) ? ["--secret-env <name>"] : []),
    ...(redirectUri.length < Math.max(1, count) ? ["--redirect-uri <address>"] : []),
  ];
  if (talk === undefined && lacking.length > 0)
    throw new ConfigurationError([
      `init: there is no terminal to ask questions on, so it needs ${lacking.join(", ")} (flags about clients once per client), or --yes to accept the defaults`,
    ]);
  const answer = (value: string | undefined, question: Question): Promise<string> =>
    value === undefined && talk !== undefined
      ? untilRight(question, talk)
      : Promise.resolve(accepted(question, value ?? ""));
  const baseUrl = await answer(flags.baseUrl, questions.baseUrl);
  const askClient = async (index: number): Promise<MinimalProfile["clients"][number]> => ({
    id: await answer(clientId[index], questions.id(index + 1)),
    secret: { env: await answer(secretEnv[index], questions.secretEnv(index + 1)) },
    redirectUri: await answer(redirectUri[index], questions.redirectUri),
  });
  const clients = [await askClient(0)];
  const wantsSecond =
    count === 0 && talk !== undefined
      ? /^y/i.test(await untilRight(questions.second, talk))
      : count === MOST_CLIENTS;
  if (wantsSecond) clients.push(await askClient(1));
  return { ...given({ name: flags.name }), baseUrl, clients };
};

const untilRight = async (question: Question, { ask, tell }: Talk): Promise<string> => {
  for (;;) {
    const answer = await ask(question.text, question.offered);
    const problem = question.problem(answer);
    if (problem === undefined) return question.read?.(answer) ?? answer;
    tell(problem);
  }
};

const accepted = (question: Question, answer: string): string => {
  const problem = question.problem(answer);
  if (problem !== undefined) throw new ConfigurationError([`${question.flag}: ${problem}`]);
  return question.read?.(answer) ?? answer;
};

export interface InitFile {
  /** Where to write the profile: .ts or .mts with comments, or .json. */
  readonly file: string;
  readonly force: boolean;
  /** Where a profile in TypeScript imports defineProfile from; undefined if that is impossible. */
  readonly importFrom: string | undefined;
  /** Where to write the JSON Schema, for editors; a profile in JSON then refers to it. */
  readonly schemaFile?: string | undefined;
}

/** Throws ConfigurationError if the profile or its schema must not be written there. Call it before asking questions. */
export const checkFile = ({ file, force, importFrom, schemaFile }: InitFile): void => {
  if (!/\.(ts|mts|json)$/.test(file))
    throw new ConfigurationError([
      `--out is "${file}"; accepted is a name that ends with .ts, .mts or .json`,
    ]);
  if (file.endsWith(".ts") && moduleTypeAt(path.dirname(path.resolve(file))) === "commonjs")
    throw new ConfigurationError([
      `--out is "${file}", which would not load: package.json there has "type": "commonjs"; accepted is a name that ends with .mts or .json`,
    ]);
  if (!file.endsWith(".json") && importFrom === undefined)
    throw new ConfigurationError([
      `--out is "${file}", which would not load: this package is not installed there, so defineProfile cannot be imported; accepted is a name that ends with .json, or install the package first (npm install --save-dev)`,
    ]);
  if (!force && existsSync(file))
    throw new ConfigurationError([`--out: ${file} already exists; --force replaces it`]);
  if (schemaFile === undefined) return;
  if (path.resolve(schemaFile) === path.resolve(file))
    throw new ConfigurationError([
      `--schema is "${schemaFile}", which is also where the profile is written; accepted is another file`,
    ]);
  checkSchemaFile(schemaFile, force);
};

/** An older schema is replaced unasked, because nothing is lost with it. */
const checkSchemaFile = (file: string, force: boolean): void => {
  if (!force && existsSync(file) && !isSchema(file))
    throw new ConfigurationError([
      `--schema: ${file} already exists and is no schema of profiles; --force replaces it`,
    ]);
};

const isSchema = (file: string): boolean => {
  try {
    return fieldOf(parseJson(readFileSync(file, "utf8")), "title") === SCHEMA_TITLE;
  } catch {
    return false;
  }
};

/**
 * Writes the profile atomically, and never over an existing file unless forced. Throws ConfigurationError if the
 * answers make no valid profile or the file cannot be written.
 */
export const writeProfile = (profile: MinimalProfile, target: InitFile): void => {
  const { file, schemaFile } = target;
  checkProfile(profile, "init");
  checkFile(target);
  const $schema = schemaFile && relativeTo(path.dirname(path.resolve(file)), schemaFile);
  const text = file.endsWith(".json")
    ? jsonFile({ $schema, ...profile })
    : profileText(profile, target.importFrom ?? "");
  putInPlace(file, text);
};

const SCHEMA_TITLE = "Touchstone profile";

export const profileSchema = (): Readonly<Record<string, unknown>> => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: SCHEMA_TITLE,
  ...(JSON.parse(JSON.stringify(Profile)) as Record<string, unknown>),
});

/** Writes the schema. Throws ConfigurationError if the file cannot be written, or is another file and not forced. */
export const writeSchema = (file: string, force: boolean): void => {
  checkSchemaFile(file, force);
  putInPlace(file, jsonFile(profileSchema()));
};

const relativeTo = (folder: string, file: string): string => {
  const relative = path.relative(folder, path.resolve(file));
  return relative.startsWith(".") ? relative : `./${relative}`;
};

/** Unlike a record, a profile may be readable by others, because it holds no secret. */
const PROFILE_MODE = 0o666;

const putInPlace = (file: string, text: string): void => {
  try {
    replaceFile(file, text, PROFILE_MODE);
  } catch (error) {
    throw new ConfigurationError([`${file} cannot be written: ${fileReason(error)}`]);
  }
};
