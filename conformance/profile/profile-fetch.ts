import type { FetchedProfile, WithSecrets } from "../contract/profile-fetched.ts";
import { secretKey, type Profile, type SecretSource, type SecretValue } from "../contract/profile.ts";
import type { KeyPath } from "../contract/schema-errors.ts";
import { canBeSent, type Problems } from "./profile-problems.ts";
import type { SecretReader } from "./profile-secret.ts";

type Values = Readonly<Record<string, SecretValue>>;

interface Fetching {
  readonly read: SecretReader;
  readonly fetched: Set<string>;
  readonly problems: Problems;
}

/**
 * The profile with the secrets of its headers, of authorize's query and of hooks filled in, as far as available. A
 * source that is used several times is read once.
 */
export const fetchValues = async (
  profile: Profile,
  readSecret: SecretReader,
  problems: Problems,
): Promise<FetchedProfile> => {
  const readings = new Map<string, Promise<string>>();
  const fetching: Fetching = {
    fetched: new Set(),
    problems,
    read: (where) => {
      const key = JSON.stringify(where);
      const reading = readings.get(key) ?? readSecret(where);
      readings.set(key, reading);
      return reading;
    },
  };
  const { headers, authorize, hooks, ...rest } = profile;
  const withSecrets: WithSecrets = {
    ...(headers === undefined ? {} : { headers }),
    ...(authorize === undefined ? {} : { authorize }),
    ...(hooks === undefined ? {} : { hooks }),
  };
  const fetchedParts = (await fetchIn(withSecrets, [], fetching)) as Pick<FetchedProfile, keyof WithSecrets>;
  const { fetched } = fetching;
  return { ...rest, ...fetchedParts, ...(fetched.size === 0 ? {} : { fetchedSecrets: [...fetched] }) };
};

/** A part of the profile with all secrets filled in, sequentially, so that problems keep their order. */
const fetchIn = async (part: object, at: KeyPath, fetching: Fetching): Promise<unknown> => {
  if (Array.isArray(part)) return part;
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(part) as [string, unknown][]) {
    const place = [...at, key];
    if (key === "headers" || key === "query") read[key] = await valuesOf(value as Values, place, fetching);
    else if (key === "body") read[key] = await bodyOf(value, place, fetching);
    else
      read[key] = typeof value === "object" && value !== null ? await fetchIn(value, place, fetching) : value;
  }
  return read;
};

const valuesOf = async (
  values: Values,
  at: KeyPath,
  fetching: Fetching,
): Promise<Readonly<Record<string, string>>> => {
  const read: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    const text = typeof value === "string" ? value : await fetchOne(value, [...at, name], fetching);
    if (typeof value !== "string" && at.at(-1) === "headers" && !canBeSent(name, text))
      fetching.problems.add(
        [...at, name],
        "the value stored there cannot be sent in a header; accepted are the values that RFC 9110 allows, on one line",
      );
    read[name] = text;
  }
  return read;
};

/** A JSON value with each `{ "$secret": source }` replaced by the secret. */
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
  const secret = await problems.attempt(at, source, read);
  if (secret === undefined) return "";
  fetched.add(secret);
  return `${prefix}${secret}`;
};
