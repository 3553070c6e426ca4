import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { TSchema } from "typebox";
import { Profile } from "./contract/profile.ts";
import { ConfigurationError } from "./problem.ts";

/** One file of a profile as it was read, with its relative paths made absolute. */
export interface ProfileLayer {
  readonly source: string;
  readonly value: unknown;
}

/** Reads one file: JSON, or a module with a default export. Throws ConfigurationError. */
export const readLayer = async (file: string): Promise<ProfileLayer> => {
  const source = path.resolve(file);
  return { source, value: absolute(await readProfile(source), path.dirname(source)) };
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
  return "code" in error && error.code === "ENOENT"
    ? "there is no such file (`touchstone init` writes one)"
    : error.message;
};

const pathKeys = new Set(["file", "caFile", "certFile", "keyFile", "certificateFolder"]);
/** What stands below these is the target's own, whatever its keys are called. */
const foreignKeys = new Set(["headers", "query", "body", "observations", "readings", "resolve"]);

/**
 * The value with every path in it made absolute: files, and programs that begin with ./ or ../ . So
 * each is looked for beside the file that it stands in, whichever file it is laid over.
 */
const absolute = (value: unknown, folder: string): unknown => {
  if (Array.isArray(value)) return value.map((item) => absolute(item, folder));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The layers as one value: what a later file says overrides what earlier ones do. Objects are joined key
 * by key; lists, and what is one of several alternatives (a secret's source, a hook, a receiver), are
 * replaced whole.
 */
export const layered = (layers: readonly ProfileLayer[]): unknown =>
  layers.map(({ value }) => value).reduce((under, over) => join(under, over, Profile));

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly anyOf?: unknown;
}

const join = (under: unknown, over: unknown, schema: ObjectSchema | undefined): unknown => {
  if (!isObject(under) || !isObject(over) || schema?.anyOf !== undefined) return over;
  return Object.fromEntries(
    [...new Set([...Object.keys(under), ...Object.keys(over)])].map((key) => [
      key,
      !Object.hasOwn(over, key)
        ? under[key]
        : Object.hasOwn(under, key)
          ? join(under[key], over[key], schema?.properties?.[key])
          : over[key],
    ]),
  );
};

/** A key within a profile, from the outside in. */
export type KeyPath = readonly (string | number)[];

/** The file that a key's value comes from: the last one that has it, or failing that the key around it. */
export const sourceOf = (layers: readonly ProfileLayer[], at: KeyPath): string => {
  const all = layers.map(({ source }) => source).join(" + ");
  for (let length = at.length; length > 0; length -= 1) {
    const found = layers.findLast(({ value }) => has(value, at.slice(0, length)));
    if (found !== undefined) return found.source;
  }
  return all;
};

const has = (value: unknown, at: KeyPath): boolean => {
  let inner = value;
  for (const key of at) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, key)) return false;
    inner = (inner as Record<string | number, unknown>)[key];
  }
  return true;
};
