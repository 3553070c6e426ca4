import { validateHeaderValue } from "node:http";
import type { FetchedProfile, HookDefinition } from "../contract/profile-fetched.ts";
import { hooksOf } from "../contract/hooks.ts";
import {
  secretKey,
  type HookAsWritten,
  type Profile,
  type SecretSource,
  type SecretValue,
} from "../contract/profile.ts";
import type { KeyPath } from "./profile-file.ts";
import type { ProfileProblem } from "./profile-explain.ts";
import type { SecretReader, SecretReading } from "./profile-secret.ts";

type Values = Readonly<Record<string, SecretValue>>;

/** What fetching knows: how secrets are read, each once, what was read, and what went wrong. */
interface Fetching {
  readonly read: SecretReader;
  readonly fetched: Set<string>;
  readonly problems: ProfileProblem[];
}

/**
 * The profile with the secrets of its headers, of authorize's query and of hooks in their places, and what went wrong
 * on the way; no sentence holds any of a secret. A source that stands in several places is asked once.
 */
export const fetchValues = async (
  profile: Profile,
  readSecret: SecretReader,
): Promise<{ readonly profile: FetchedProfile; readonly problems: readonly ProfileProblem[] }> => {
  const readings = new Map<string, Promise<SecretReading>>();
  const fetching: Fetching = {
    fetched: new Set(),
    problems: [],
    read: (where) => {
      const key = JSON.stringify(where);
      const reading = readings.get(key) ?? readSecret(where);
      readings.set(key, reading);
      return reading;
    },
  };
  const hooks = new Map<HookAsWritten, HookDefinition>();
  for (const [name, hook] of hooksOf<HookAsWritten>(profile))
    hooks.set(hook, await hookOf(hook, name.split("."), fetching));
  const { headers, authorize, ...rest } = profile;
  const fetchedHeaders = await valuesOf(headers, ["headers"], fetching);
  const authorizeHeaders = await valuesOf(authorize?.headers, ["authorize", "headers"], fetching);
  const query = await valuesOf(authorize?.query, ["authorize", "query"], fetching);
  const fetchedHooks = hooksIn(profile.hooks, hooks);
  const { fetched, problems } = fetching;
  const code = authorize?.code === undefined ? undefined : hooks.get(authorize.code);
  return {
    problems,
    profile: {
      ...without(rest, "hooks"),
      ...(fetchedHeaders === undefined ? {} : { headers: fetchedHeaders }),
      ...(authorize === undefined
        ? {}
        : {
            authorize: {
              ...(authorizeHeaders === undefined ? {} : { headers: authorizeHeaders }),
              ...(query === undefined ? {} : { query }),
              ...(code === undefined ? {} : { code }),
            },
          }),
      ...(fetchedHooks === undefined ? {} : { hooks: fetchedHooks }),
      ...(fetched.size === 0 ? {} : { fetchedSecrets: [...fetched] }),
    },
  };
};

const without = <T extends object, Key extends keyof T>(value: T, key: Key): Omit<T, Key> => {
  const { [key]: _, ...rest } = value;
  return rest;
};

/** The same tree of hooks, each in its fetched form. */
const hooksIn = (
  hooks: Profile["hooks"],
  fetched: ReadonlyMap<HookAsWritten, HookDefinition>,
): FetchedProfile["hooks"] => {
  if (hooks === undefined) return undefined;
  const swap = (value: unknown): unknown =>
    typeof value !== "object" || value === null
      ? value
      : (fetched.get(value as HookAsWritten) ??
        Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, swap(inner)])));
  return swap(hooks) as FetchedProfile["hooks"];
};

const hookOf = async (hook: HookAsWritten, at: KeyPath, fetching: Fetching): Promise<HookDefinition> => {
  if (!("http" in hook)) return hook;
  const { headers, ...http } = hook.http;
  const fetchedHeaders = await valuesOf(headers, [...at, "http", "headers"], fetching);
  return {
    ...hook,
    http: {
      ...http,
      ...(fetchedHeaders === undefined ? {} : { headers: fetchedHeaders }),
      ...(http.body === undefined
        ? {}
        : { body: await bodyOf(http.body, [...at, "http", "body"], fetching) }),
    },
  };
};

const valuesOf = async (
  values: Values | undefined,
  at: KeyPath,
  fetching: Fetching,
): Promise<Readonly<Record<string, string>> | undefined> => {
  if (values === undefined) return undefined;
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    const text = typeof value === "string" ? value : await fetchOne(value, [...at, name], fetching);
    if (typeof value !== "string" && at.at(-1) === "headers" && !canBeSent(name, text))
      fetching.problems.push({
        at: [...at, name],
        text: `${at.join(".")}."${name}": what is kept there is no header that can be sent; accepted are values of RFC 9110, in one line`,
      });
    read[name] = text;
  }
  return read;
};

const canBeSent = (name: string, value: string): boolean => {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
};

/** A JSON value in which `{ "$secret": source }` stands for secrets, with these in their places. */
const bodyOf = async (body: unknown, at: KeyPath, fetching: Fetching): Promise<unknown> => {
  if (Array.isArray(body))
    return Promise.all(body.map((item, index) => bodyOf(item, [...at, index], fetching)));
  if (typeof body !== "object" || body === null) return body;
  if (Object.hasOwn(body, secretKey))
    return fetchOne((body as { readonly [secretKey]: SecretSource })[secretKey], at, fetching);
  const inner = Object.entries(body).map(
    async ([key, value]) => [key, await bodyOf(value, [...at, key], fetching)] as const,
  );
  return Object.fromEntries(await Promise.all(inner));
};

const fetchOne = async (
  { prefix = "", ...source }: SecretSource & { readonly prefix?: string },
  at: KeyPath,
  { read, fetched, problems }: Fetching,
): Promise<string> => {
  const reading = await read(source);
  if (typeof reading === "string") {
    problems.push({ at, text: `${at.join(".")}: ${reading}` });
    return "";
  }
  fetched.add(reading.value);
  return `${prefix}${reading.value}`;
};
