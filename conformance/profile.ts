import { readFile } from "node:fs/promises";
import { validateHeaderName, validateHeaderValue } from "node:http";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv, type ErrorObject } from "ajv";
import { isRequirementId, requirement, requirementIds } from "./contract/catalogue.ts";
import { nearest } from "./contract/nearest.ts";
import { Profile } from "./contract/profile.ts";
import { ConfigurationError } from "./problem.ts";
import { resolveReceiver, type ReceiverSettings } from "./receiver-settings.ts";
import type { Client } from "./world/target.ts";

/** A profile whose secrets have been fetched. Never written anywhere. */
export interface ResolvedProfile {
  readonly profile: Profile;
  readonly clients: readonly Client[];
  /** How a run comes by its receiver; one on this machine where left out. */
  readonly receiver?: ReceiverSettings;
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
    throw new ConfigurationError([`profile ${source}: ${reasonOf(error)}`]);
  }
};

/** Why a file cannot be read. V8 quotes the text around a mistake in JSON, and who knows what stands there. */
const reasonOf = (error: unknown): string => {
  if (error instanceof SyntaxError)
    return error.message.replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, ": it is not valid JSON");
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOENT" ? "there is no such file" : error.message;
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
      .map(
        (id) =>
          `pins/notApplicable: "${id}" is no requirement id; near it are ${nearest(id, requirementIds).join(", ")} (\`touchstone rules\` lists all)`,
      ),
    ...Object.entries(profile.pins?.readings ?? {}).flatMap(readingProblems),
    ...duplicateClients(profile),
    ...Object.entries({ headers: profile.headers, "authorize.headers": profile.authorize?.headers }).flatMap(
      ([key, headers]) => Object.entries(headers ?? {}).flatMap((header) => headerProblems(key, header)),
    ),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems.map((text) => `${source}: ${text}`));
  return profile;
};

const readingProblems = ([id, reading]: readonly [string, string]): string[] => {
  if (!isRequirementId(id)) return [];
  const known = Object.keys(requirement(id).readings ?? {});
  if (known.includes(reading)) return [];
  return [
    `pins.readings: "${reading}" is no reading of ${id}; ${known.length === 0 ? "it has none" : `accepted are ${known.join(", ")}`}`,
  ];
};

/** Rules compare the two clients; where both are the same, each of them would raise an alarm. */
const duplicateClients = ({ clients: [first, second] }: Profile): string[] =>
  first !== undefined && first.id === second?.id
    ? [`clients[1].id is "${second.id}", as is clients[0].id; accepted is another client, or none`]
    : [];

/** What the transport itself decides on, and refuses to be told. */
const ownHeaders = ["connection", "content-length", "expect", "keep-alive", "transfer-encoding", "upgrade"];

const headerProblems = (key: string, [name, value]: readonly [string, string]): string[] => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    return [`${key}."${name}" is no header that can be sent; accepted are names and values of RFC 9110`];
  }
  return ownHeaders.includes(name.toLowerCase())
    ? [`${key}."${name}" cannot be set; accepted is any header but ${ownHeaders.join(", ")}`]
    : [];
};

const addressProblems = (profile: Profile): string[] => {
  const addresses: [string, string][] = [
    ["baseUrl", profile.baseUrl],
    ...profile.clients.map((client, index): [string, string] => [
      `clients[${index}].redirectUri`,
      client.redirectUri,
    ]),
    ...hookAddresses(profile),
  ];
  return addresses.flatMap(([key, value]) => {
    const shown = value.replace(/\/\/[^/]*@/, "//(not shown)@");
    const parsed = URL.canParse(value) ? new URL(value) : undefined;
    if (parsed === undefined || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
      return [`${key} is "${shown}"; accepted is an absolute URL that starts with http:// or https://`];
    if (key !== "baseUrl") return [];
    if (parsed.search !== "" || parsed.hash !== "")
      return [`baseUrl is "${shown}"; accepted is an address without query and fragment`];
    return parsed.username === "" && parsed.password === ""
      ? []
      : [
          `baseUrl is "${shown}"; accepted is an address without user and password (\`headers\` can authorize)`,
        ];
  });
};

/** Addresses of hooks, with something in the place of their placeholders. */
const hookAddresses = ({ hooks }: Profile): [string, string][] =>
  Object.entries({
    "clock.now": hooks?.clock?.now,
    "clock.advance": hooks?.clock?.advance,
    "events.trigger": hooks?.events?.trigger,
    "callback.register": hooks?.callback?.register,
  }).flatMap(([name, hook]): [string, string][] =>
    hook !== undefined && "http" in hook
      ? [[`hooks.${name}.http.url`, hook.http.url.replaceAll(/\{\{\w+\}\}/g, "1")]]
      : [],
  );

/**
 * Ajv's errors as sentences, one a key. A union reports each of its arms: where the value has the key
 * that tells one arm from the others, what that arm says; otherwise the outermost line says enough.
 */
const explain = (errors: readonly ErrorObject[]): string[] => {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf");
  const isTold = (error: ErrorObject): boolean => {
    const union = unions.find(({ schemaPath }) => error.schemaPath.startsWith(schemaPath));
    if (union === undefined) return true;
    const arm = meantArm(union);
    return arm === undefined ? error === union : error.schemaPath.startsWith(`${union.schemaPath}/${arm}/`);
  };
  return [...new Set(errors.filter(isTold).map(explainOne))];
};

/** Number of the only arm of a union whose required keys the value has. */
const meantArm = ({ data, parentSchema }: ErrorObject): number | undefined => {
  if (typeof data !== "object" || data === null) return undefined;
  const arms = (parentSchema?.["anyOf"] ?? []) as readonly { readonly required?: readonly string[] }[];
  const fitting = arms.flatMap((arm, index) => (arm.required?.every((key) => key in data) ? [index] : []));
  return fitting.length === 1 ? fitting[0] : undefined;
};

const explainOne = (error: ErrorObject): string => {
  const key = error.instancePath.slice(1).replaceAll("/", ".") || "the profile";
  const value = shownValue(key, error.data);
  if (error.keyword === "additionalProperties") {
    const known = Object.keys((error.parentSchema?.["properties"] ?? {}) as object).join(", ");
    return `${key} has the unknown key "${error.params["additionalProperty"]}"; accepted are ${known}`;
  }
  if (error.keyword === "required") return `${key} lacks the key "${error.params["missingProperty"]}"`;
  const description = (error.parentSchema as { description?: string } | undefined)?.description;
  return `${key} is ${value}; it ${error.message}${description === undefined ? "" : ` (${description})`}`;
};

/** The value of a key, unless it may be or hold a credential. */
const shownValue = (key: string, value: unknown): string => {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return /secret|header|token|password|query|body|command/i.test(key)
    ? `(a ${typeof value}, not shown)`
    : (JSON.stringify(value)?.slice(0, 80) ?? "nothing");
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
  if (problems.length === 0 && clients[0]?.secret === clients[1]?.secret)
    problems.push(
      `${source ?? "profile"}: clients[1].secret is the same as clients[0].secret; accepted is a client with a secret of its own, or none`,
    );
  const receiver = await resolveReceiver(
    profile,
    (where) => readSecret(where, environment, source ?? "."),
    source,
  );
  if ("problems" in receiver)
    problems.push(...receiver.problems.map((text) => `${source ?? "profile"}: ${text}`));
  if (problems.length > 0 || "problems" in receiver) throw new ConfigurationError(problems);
  return { profile, clients, receiver: receiver.settings, source };
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
