import { isText } from "../../conformance/judging/laws/answer.ts";
import { isTokenField } from "../../conformance/contract/forms.ts";
import { fieldsIn, type Exchange } from "./exchange.ts";
import { grantOf } from "./oracles/authorize.ts";

/** Longer bodies are cut after removing credentials, because half a token could not be masked by value. */
const MOST_CHARACTERS = 4_000;

const secretFields = ["accessToken", "refreshToken", "code", "clientSecret"];

/** The exchanges of a breach as reported, and their credentials, which the runner masks. */
export const evidenceOf = (exchanges: readonly Exchange[]) => {
  const secrets = [...new Set(exchanges.flatMap(secretsIn))];
  return {
    secrets,
    exchanges: exchanges.map(({ method, path, requestBody, status, text, location, durationMs }) => ({
      method,
      path: cut(path, secrets),
      ...(requestBody === undefined ? {} : { requestBody: cut(requestBody, secrets) }),
      status,
      answer: cut(location === undefined ? text : `Location: ${location}\n${text}`, secrets),
      durationMs,
    })),
  };
};

/** An answer without credentials, for messages of the preflight. */
export const quote = (exchange: Exchange): string => {
  if (exchange.status === 0) return `no answer (${exchange.text})`;
  const text = without(exchange.text, secretsIn(exchange)).slice(0, MOST_QUOTED);
  return text === "" ? `status ${exchange.status}, no body` : `status ${exchange.status}, body ${text}`;
};

const MOST_QUOTED = 300;

const secretsIn = (exchange: Exchange): readonly string[] => [
  ...secretsAmong(fieldsIn(exchange.requestBody ?? "")),
  ...secretsAmong({ ...exchange.fields, code: grantOf(exchange)?.code }),
];

/** Secrets may be deeper in an answer, though not so deep. */
const DEEPEST = 8;

const secretsAmong = (fields: Exchange["fields"], depth = 0): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    if (isText(value)) return isSecret(name, value, fields, depth) ? [value] : [];
    if (typeof value !== "object" || value === null || depth === DEEPEST) return [];
    return secretsAmong(value as Exchange["fields"], depth + 1);
  });

const isSecret = (name: string, value: string, beside: Exchange["fields"], depth: number): boolean =>
  // Deeper, a code is that of an error.
  (secretFields.includes(name) && (name !== "code" || depth === 0)) ||
  isTokenField(name, value, isText(beside["accessToken"]));

const without = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((rest, secret) => rest.replaceAll(secret, "(not shown)"), text);

const cut = (text: string, secrets: readonly string[]): string =>
  text.length <= MOST_CHARACTERS ? text : `${without(text, secrets).slice(0, MOST_CHARACTERS)}…`;
