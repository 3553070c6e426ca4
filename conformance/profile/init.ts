import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { documentedPath } from "../contract/forms.ts";
import { given } from "../contract/given.ts";
import { fileReason } from "../contract/files.ts";
import { jsonFile } from "../contract/harmless-text.ts";
import { fieldOf, parseJson } from "../contract/json.ts";
import { replaceFile } from "../files/write.ts";
import { Profile } from "../contract/profile.ts";
import { profileText, type MinimalProfile } from "./init-text.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { checkProfile } from "./profile-check.ts";
import { createRequire } from "node:module";

export interface InitFlags {
  readonly name?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly clientId?: readonly string[] | undefined;
  readonly secretEnv?: readonly string[] | undefined;
  readonly redirectUri?: readonly string[] | undefined;
}

/** Values to be replaced by hand, for flags that are missing. */
const placeholders = {
  baseUrl: "https://staging.example",
  clientId: (number: number) => `client-${number}`,
  secretEnv: (number: number) => `CLIENT_${number}_SECRET`,
  redirectUri: "https://client.example/callback",
};

const MOST_CLIENTS = 2;

/**
 * The profile that flags describe, with placeholders for what they leave out. Flags of clients are given once per
 * client, in the same order. Throws ConfigurationError that names the flag of a wrong value.
 */
export const profileFromFlags = (flags: InitFlags): MinimalProfile => {
  const { name, clientId = [], secretEnv = [], redirectUri = [] } = flags;
  const count = Math.max(1, clientId.length, secretEnv.length, redirectUri.length);
  if (count > MOST_CLIENTS)
    throw new ConfigurationError([
      `--client-id, --secret-env and --redirect-uri give ${count} clients; accepted are one or two`,
    ]);
  const baseUrl = (flags.baseUrl ?? placeholders.baseUrl).replace(/\/+$/, "");
  const clients = Array.from({ length: count }, (_, index) => ({
    id: clientId[index] ?? placeholders.clientId(index + 1),
    secret: { env: secretEnv[index] ?? placeholders.secretEnv(index + 1) },
    redirectUri: redirectUri[index] ?? placeholders.redirectUri,
  }));
  // What is given may be the secret itself, so it is not shown.
  if (secretEnv.some((variable) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)))
    throw new ConfigurationError([
      "--secret-env: that is not a variable name; accepted is a name such as CLIENT_1_SECRET, never the secret itself",
    ]);
  const profile = { ...given({ name }), baseUrl, clients };
  checkProfile(profile, ([first, , key]) => flagOf[`${key ?? first}`] ?? "init");
  if (documentedPath.test(baseUrl))
    throw new ConfigurationError([
      `--base-url: baseUrl is "${baseUrl}"; accepted is the part before /open-api/: "${baseUrl.replace(documentedPath, "")}"`,
    ]);
  return profile;
};

const flagOf: Readonly<Record<string, string>> = {
  baseUrl: "--base-url",
  id: "--client-id",
  redirectUri: "--redirect-uri",
  name: "--name",
};

/** The numbers of the lines of a profile in which something is left to replace. */
const placeholderLines = (text: string, { baseUrl, clients }: MinimalProfile): readonly number[] => {
  const used = [
    baseUrl === placeholders.baseUrl && `"${baseUrl}"`,
    ...clients.flatMap(({ id, redirectUri }, index) => [
      id === placeholders.clientId(index + 1) && `"${id}"`,
      redirectUri === placeholders.redirectUri && `"${redirectUri}"`,
    ]),
  ].filter((one) => one !== false);
  return text
    .split("\n")
    .flatMap((line, index) => (used.some((one) => line.includes(one)) ? [index + 1] : []));
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

/** Throws ConfigurationError if the profile or its schema must not be written there. */
const checkFile = ({ file, force, importFrom, schemaFile }: InitFile): void => {
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
 * Writes the profile atomically, and never over an existing file unless forced. Returns the numbers of the lines that
 * are left to fill in. Throws ConfigurationError if the file cannot be written.
 */
export const writeProfile = (profile: MinimalProfile, target: InitFile): readonly number[] => {
  const { file, schemaFile } = target;
  checkFile(target);
  const $schema = schemaFile && relativeTo(path.dirname(path.resolve(file)), schemaFile);
  const text = file.endsWith(".json")
    ? jsonFile({ $schema, ...profile })
    : profileText(profile, target.importFrom ?? "");
  putInPlace(file, text);
  return placeholderLines(text, profile);
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

/** The module type in a folder's package.json; "none" if it has none, or there is no such file. */
const moduleTypeAt = (folder: string): "module" | "commonjs" | "none" => {
  const file = path.join(folder, "package.json");
  if (existsSync(file)) {
    const type = typeOf(file);
    return type === "module" || type === "commonjs" ? type : "none";
  }
  const above = path.dirname(folder);
  return above === folder ? "none" : moduleTypeAt(above);
};

const typeOf = (file: string): unknown => {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { readonly type?: unknown }).type;
  } catch {
    return undefined;
  }
};

/** Whether a module in this folder can import the package with this name. */
export const isInstalledAt = (folder: string, name: string): boolean => {
  try {
    createRequire(path.join(folder, "profile.mjs")).resolve(name);
    return true;
  } catch {
    return false;
  }
};

/**
 * The file name with which a profile loads from this folder: TypeScript if it can import `defineProfile`, with the
 * extension that makes it a module whatever package.json says; otherwise JSON.
 */
export const profileNameAt = (folder: string, canImport: boolean): string => {
  if (!canImport) return "touchstone.config.json";
  return moduleTypeAt(folder) === "module" ? "touchstone.config.ts" : "touchstone.config.mts";
};
