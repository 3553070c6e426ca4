import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "typebox";
import { Profile, secretKey } from "../contract/profile.ts";
import { codeOf } from "../contract/files.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { errorMessage } from "../contract/text.ts";
import type { KeyPath } from "../contract/schema-errors.ts";
import { fieldOf, isObject, mapValues } from "../contract/json.ts";

/** One file of a profile as read, with its relative paths made absolute. */
export interface ProfileLayer {
  readonly source: string;
  readonly value: unknown;
}

/** Reads one file: JSON, or a module with a default export. Throws ConfigurationError. */
export const readLayer = async (file: string): Promise<ProfileLayer> => {
  if (/^https?:\/\//i.test(file))
    throw new ConfigurationError([
      `profile ${file}: this is an address; accepted is a file that names it, which \`touchstone init --base-url ${file}\` writes`,
    ]);
  const source = path.resolve(file);
  return { source, value: absolute(await readProfile(source), path.dirname(source)) };
};

const readProfile = async (source: string): Promise<unknown> => {
  if (!/\.(json|ts|mts|js|mjs)$/.test(source))
    throw new ConfigurationError([
      `profile ${source}: accepted are .json, .ts, .mts, .js and .mjs; \`touchstone init\` writes one`,
    ]);
  try {
    // A byte order mark, which some Windows editors write, is not part of JSON.
    if (source.endsWith(".json")) return JSON.parse((await readFile(source, "utf8")).replace(/^\uFEFF/, ""));
    const module = (await import(pathToFileURL(source).href)) as { default?: unknown };
    if (module.default === undefined || typeof module.default === "function")
      throw new ConfigurationError([
        `profile ${source}: its default export must be the profile itself, as in \`export default defineProfile({ ... })\``,
      ]);
    return module.default;
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError([`profile ${source}: ${reasonOf(source, error)}`]);
  }
};

/** Why a file cannot be read. Omits V8's quote of the text around a mistake in JSON, which may contain anything. */
const reasonOf = (source: string, error: unknown): string => {
  if (!existsSync(path.dirname(source)))
    return `there is no folder ${path.dirname(source)}; correct the path`;
  if (!existsSync(source)) return "there is no such file (`touchstone init` writes one)";
  if (error instanceof SyntaxError)
    return /import statement outside a module|Unexpected token 'export'/.test(error.message)
      ? 'package.json there has "type": "commonjs"; rename the profile to end with .mts'
      : notation(source, error);
  if (codeOf(error) === "ERR_MODULE_NOT_FOUND")
    return `it imports something that cannot be found: ${errorMessage(error).replace(/ imported from .*$/s, "")}; install it beside the profile (npm install --save-dev), or correct the import`;
  if (codeOf(error) === "EISDIR") return "it is a folder; give a file";
  return source.endsWith(".json") ? errorMessage(error) : `it ended with an error: ${errorMessage(error)}`;
};

/** What is wrong with the text of a file, and where. */
const notation = (source: string, { message, stack }: Error): string => {
  if (source.endsWith(".json")) {
    const reason = message
      .replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, "")
      .replace(/ in JSON at/, " at");
    return `it is not valid JSON (${reason}); accepted is JSON in UTF-8, without comments and trailing commas`;
  }
  const [, line] = /^\S*:(\d+)\n/.exec(stack ?? "") ?? [];
  return `${line === undefined ? "" : `line ${line}: `}${message}; correct it there (types are stripped, so no enums and no parameter properties)`;
};

const pathKeys = new Set(["file", "caFile", "certFile", "keyFile", "certificateFolder"]);
/** Below these keys, names are the target's own. */
const foreignKeys = new Set(["observations", "readings", "resolve"]);
/** Below these too, except that a value may be a secret's source. */
const valueKeys = new Set(["headers", "query"]);

/**
 * Makes every path in the value absolute: files, and programs that begin with ./ or ../ . So each is relative to the
 * file it is written in, even when files are layered.
 */
const absolute = (value: unknown, folder: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => absolute(item, folder));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (valueKeys.has(key) && isObject(inner))
        return [key, mapValues(inner, (one) => absolute(one, folder))];
      if (key === "body") return [key, absoluteSecrets(inner, folder)];
      if (foreignKeys.has(key)) return [key, inner];
      if (pathKeys.has(key) && typeof inner === "string" && inner !== "")
        return [key, path.resolve(folder, inner)];
      if (key !== "command" || !Array.isArray(inner)) return [key, absolute(inner, folder)];
      const [program, ...parameters] = inner as unknown[];
      const isBeside = typeof program === "string" && /^\.\.?\//.test(program);
      return [key, isBeside ? [path.resolve(folder, program), ...parameters] : inner];
    }),
  );
};

/** A body is the target's own, except for the secrets in it. */
const absoluteSecrets = (value: unknown, folder: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => absoluteSecrets(item, folder));
  if (!isObject(value)) return value;
  return Object.hasOwn(value, secretKey)
    ? absolute(value, folder)
    : mapValues(value, (one) => absoluteSecrets(one, folder));
};

/**
 * The layers merged into one value: later files override earlier ones. Objects are merged by key, and null removes a
 * key, as in a JSON merge patch (RFC 7396); lists, alternatives (a secret's source, a hook, a receiver), and pinned
 * observations are replaced whole.
 */
export const layered = ([base, ...over]: readonly ProfileLayer[]): unknown =>
  over.reduce<unknown>((under, { value }) => join(under, value, Profile), base?.value);

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly patternProperties?: Readonly<Record<string, TSchema>>;
}

const join = (under: unknown, over: unknown, schema: ObjectSchema | undefined): unknown => {
  const isJoined = schema?.properties !== undefined || schema?.patternProperties !== undefined;
  if (!isObject(over) || !isJoined) return over;
  const base = isObject(under) ? under : {};
  const [ofAnyKey] = Object.values(schema.patternProperties ?? {});
  const changed = Object.entries(over).flatMap(([key, value]) =>
    value === null ? [] : [[key, join(base[key], value, schema.properties?.[key] ?? ofAnyKey)] as const],
  );
  const kept = Object.entries(base).filter(([key]) => !Object.hasOwn(over, key));
  return Object.fromEntries([...kept, ...changed]);
};

/** The file that a key's value comes from: the last one that has it, otherwise the last that has an enclosing key. */
export const sourceOf = (layers: readonly ProfileLayer[], at: KeyPath): string => {
  for (let length = at.length; length > 0; length -= 1) {
    const place = at.slice(0, length).map(String);
    const found = layers.findLast(({ value }) => place.reduce(fieldOf, value) !== undefined);
    if (found !== undefined) return found.source;
  }
  return layers.map(({ source }) => source).join(" + ");
};
