import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv, type ErrorObject } from "ajv";
import { isRequirementId } from "./contract/catalogue.ts";
import { Profile } from "./contract/profile.ts";
import { ConfigurationError } from "./problem.ts";
import type { Client } from "./world/target.ts";

/** A profile whose secrets have been fetched. Never written anywhere. */
export interface ResolvedProfile {
  readonly profile: Profile;
  readonly clients: readonly Client[];
  /** Where it was read from; undefined for the embedded fake's. */
  readonly source: string | undefined;
}

/**
 * Reads, checks and resolves a profile: JSON, or a module (.ts, .js, .mjs) with a default export.
 * Throws ConfigurationError with every problem found, each naming its key and what is accepted.
 */
export const loadProfile = async (
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<ResolvedProfile> => {
  const source = path.resolve(file);
  return resolveProfile(checkProfile(await readProfile(source), source), environment, source);
};

const readProfile = async (source: string): Promise<unknown> => {
  if (!/\.(json|ts|mts|js|mjs)$/.test(source))
    throw new ConfigurationError([`profile ${source}: accepted are .json, .ts, .mts, .js and .mjs`]);
  try {
    if (source.endsWith(".json")) return JSON.parse(await readFile(source, "utf8"));
    const module = (await import(pathToFileURL(source).href)) as { default?: unknown };
    if (module.default === undefined)
      throw new ConfigurationError([
        `profile ${source}: it must have a default export, as in \`export default defineProfile({ ... })\``,
      ]);
    return module.default;
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError([`profile ${source}: ${reason}`]);
  }
};

const validate = new Ajv({ allErrors: true, verbose: true, strict: false }).compile(Profile);

/** The value as a Profile, or a ConfigurationError that lists what is wrong with it. */
export const checkProfile = (value: unknown, source = "profile"): Profile => {
  if (!validate(value))
    throw new ConfigurationError(explain(validate.errors ?? []).map((text) => `${source}: ${text}`));
  const profile = value as Profile;
  const problems = [
    ...addressProblems(profile),
    ...Object.keys({
      ...profile.pins?.observations,
      ...profile.pins?.readings,
      ...profile.notApplicable,
    })
      .filter((id) => !isRequirementId(id))
      .map((id) => `pins/notApplicable: "${id}" is no requirement id (\`touchstone rules\` lists them)`),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems.map((text) => `${source}: ${text}`));
  return profile;
};

const addressProblems = (profile: Profile): string[] => {
  const addresses: [string, string][] = [
    ["baseUrl", profile.baseUrl],
    ...profile.clients.map((client, index): [string, string] => [
      `clients[${index}].redirectUri`,
      client.redirectUri,
    ]),
  ];
  return addresses.flatMap(([key, value]) => {
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (parsed !== undefined && (parsed.protocol === "http:" || parsed.protocol === "https:")) {
      return key === "baseUrl" && (parsed.search !== "" || parsed.hash !== "")
        ? [`baseUrl is "${value}"; accepted is an address without query and fragment`]
        : [];
    }
    return [`${key} is "${value}"; accepted is an absolute URL that starts with http:// or https://`];
  });
};

/** Ajv's errors as sentences, one a key: unions report each of their arms, of which the outermost line says enough. */
const explain = (errors: readonly ErrorObject[]): string[] => {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf").map(({ instancePath }) => instancePath);
  const told = errors.filter(
    (error) =>
      error.keyword === "anyOf" ||
      !unions.some((union) => union !== "" && error.instancePath.startsWith(union)),
  );
  return [...new Set(told.map(explainOne))];
};

const explainOne = (error: ErrorObject): string => {
  const key = error.instancePath.slice(1).replaceAll("/", ".") || "the profile";
  const value = /secret/i.test(key) ? "(not shown)" : JSON.stringify(error.data)?.slice(0, 80);
  if (error.keyword === "additionalProperties") {
    const known = Object.keys((error.parentSchema?.["properties"] ?? {}) as object).join(", ");
    return `${key} has the unknown key "${error.params["additionalProperty"]}"; accepted are ${known}`;
  }
  if (error.keyword === "required") return `${key} lacks the key "${error.params["missingProperty"]}"`;
  const description = (error.parentSchema as { description?: string } | undefined)?.description;
  return `${key} is ${value}; it ${error.message}${description === undefined ? "" : ` (${description})`}`;
};

/** Fetches a profile's secrets. Throws ConfigurationError where one cannot be had; the error never shows a value. */
export const resolveProfile = async (
  profile: Profile,
  environment: Readonly<Record<string, string | undefined>>,
  source?: string,
): Promise<ResolvedProfile> => {
  const problems: string[] = [];
  const clients: Client[] = [];
  for (const [index, client] of profile.clients.entries()) {
    const secret = await readSecret(client.secret, environment, source ?? ".").catch((error: unknown) =>
      String(error),
    );
    if (typeof secret === "string")
      problems.push(`${source ?? "profile"}: clients[${index}].secret: ${secret}`);
    else clients.push({ id: client.id, secret: secret.value, redirectUri: client.redirectUri });
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  return { profile, clients, source };
};

/** The secret, or a sentence that says why there is none. */
const readSecret = async (
  where: Profile["clients"][number]["secret"],
  environment: Readonly<Record<string, string | undefined>>,
  source: string,
): Promise<{ value: string } | string> => {
  if ("env" in where) {
    const value = environment[where.env];
    return value === undefined || value === ""
      ? `the environment variable ${where.env} is not set; set it to the client's secret`
      : { value };
  }
  const file = path.resolve(path.dirname(source), where.file);
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return `the file ${file} cannot be read`;
  const value = text.replace(/\r?\n$/, "");
  return value === "" ? `the file ${file} is empty` : { value };
};
