import { isText } from "../../conformance/judging/laws/answer.ts";
import { isTokenField } from "../../conformance/contract/forms.ts";
import { fieldsIn, type Exchange } from "./exchange.ts";
import { grantOf } from "./oracles/tokens.ts";

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

/** A step of the preflight that did not bring what the scenario needs. */
export interface Failure {
  /** What did not come, such as "the list gave clients[0] (c) no page". */
  readonly what: string;
  readonly answer: Exchange;
  /** Where the cause is to be looked for, if the answer is a refusal. */
  readonly remedy?: string;
  /** Set if a refusal, too, may be of the moment, because something may not be there yet or no more. */
  readonly mayPass?: boolean;
}

/** Whether the answer may be of the moment: a restart, a limit, a gateway whose service is away. */
const isPassing = ({ answer: { status }, mayPass = false }: Failure): boolean =>
  mayPass || status === 0 || status === 429 || status >= 500;

const MOST_TRIES = 3;

/** Tries again, after a pause, while the failure may pass: one lost answer is no reason to play no load. */
export const inSomeTries = (
  attempt: () => Failure | undefined,
  pause: (afterTry: number) => void,
): Failure | undefined => {
  for (let number = 1; ; number += 1) {
    const failure = attempt();
    if (failure === undefined || !isPassing(failure) || number === MOST_TRIES) return failure;
    pause(number);
  }
};

/** What went wrong, and what to do about it. */
export const failureText = (failure: Failure): string => {
  const { what, answer, remedy } = failure;
  const { status } = answer;
  if (!isPassing(failure)) return `${what}: ${quote(answer)}${remedy === undefined ? "" : `. ${remedy}`}`;
  const cause =
    status === 0
      ? "The service, or what is in front of it, ends connections or does not answer in time"
      : status === 429
        ? "The service, or a gateway, limits how much this machine may send: allow more, or wait"
        : status >= 500
          ? "The service, or a gateway in front of it, is failing: wait until it answers"
          : remedy;
  return `${what} in ${MOST_TRIES} tries, the last time: ${quote(answer)}${cause === undefined ? "" : `. ${cause}`}`;
};
