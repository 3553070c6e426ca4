import { existsSync } from "node:fs";
import path from "node:path";
import { fileReason } from "../contract/files.ts";
import { replaceFile } from "../files/replace.ts";
import { Profile } from "../contract/profile.ts";
import { profileOfAnswers, profileText, type InitAnswers, type InitClient } from "./init-text.ts";
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
export const gatherAnswers = async (flags: InitFlags, talk: Talk | undefined): Promise<InitAnswers> => {
  const { clientId = [], secretEnv = [], redirectUri = [] } = flags;
  const given = Math.max(clientId.length, secretEnv.length, redirectUri.length);
  if (given > MOST_CLIENTS)
    throw new ConfigurationError([
      `--client-id, --secret-env and --redirect-uri give ${given} clients; accepted are one or two`,
    ]);
  const lacking = [
    ...(flags.baseUrl === undefined ? ["--base-url <address>"] : []),
    ...(clientId.length < Math.max(1, given) ? ["--client-id <id>"] : []),
    ...(secretEnv.length < Math.max(1, given) ? ["--secret-env <name>"] : []),
    ...(redirectUri.length < Math.max(1, given) ? ["--redirect-uri <address>"] : []),
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
  const askClient = async (index: number): Promise<InitClient> => ({
    id: await answer(clientId[index], questions.id(index + 1)),
    secretEnv: await answer(secretEnv[index], questions.secretEnv(index + 1)),
    redirectUri: await answer(redirectUri[index], questions.redirectUri),
  });
  const clients = [await askClient(0)];
  const wantsSecond =
    given === 0 && talk !== undefined
      ? /^y/i.test(await untilRight(questions.second, talk))
      : given === MOST_CLIENTS;
  if (wantsSecond) clients.push(await askClient(1));
  return { ...(flags.name === undefined ? {} : { name: flags.name }), baseUrl, clients };
};

const untilRight = async (question: Question, { ask, tell }: Talk): Promise<string> => {
  for (;;) {
    const given = await ask(question.text, question.offered);
    const problem = question.problem(given);
    if (problem === undefined) return question.read?.(given) ?? given;
    tell(problem);
  }
};

const accepted = (question: Question, given: string): string => {
  const problem = question.problem(given);
  if (problem !== undefined) throw new ConfigurationError([`${question.flag}: ${problem}`]);
  return question.read?.(given) ?? given;
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

/** Throws ConfigurationError if the profile must not be written there. Call it before asking questions. */
export const checkFile = ({
  file,
  force,
  importFrom,
}: Pick<InitFile, "file" | "force" | "importFrom">): void => {
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
};

/**
 * Writes the profile atomically, and never over an existing file unless forced. Throws ConfigurationError if the
 * answers make no valid profile or the file cannot be written.
 */
export const writeProfile = (answers: InitAnswers, target: InitFile): void => {
  const { file, schemaFile } = target;
  const profile = checkProfile(profileOfAnswers(answers), "init");
  checkFile(target);
  const $schema =
    schemaFile === undefined ? undefined : relativeTo(path.dirname(path.resolve(file)), schemaFile);
  const text = file.endsWith(".json")
    ? `${JSON.stringify({ ...($schema === undefined ? {} : { $schema }), ...profile }, undefined, 2)}\n`
    : profileText(answers, target.importFrom ?? "");
  putInPlace(file, text);
};

export const profileSchema = (): Readonly<Record<string, unknown>> => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Touchstone profile",
  ...(JSON.parse(JSON.stringify(Profile)) as Record<string, unknown>),
});

/** Writes the schema. Throws ConfigurationError if the file cannot be written. */
export const writeSchema = (file: string): void =>
  putInPlace(file, `${JSON.stringify(profileSchema(), undefined, 2)}\n`);

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
