import { shorten } from "../../contract/text.ts";
import { isNumber, isText, shown, type Fields } from "./answer.ts";
import type { Breach } from "./breach.ts";

/** Credentials in a token answer of any status; undefined if malformed. */
export interface Credentials {
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly expiresIn: unknown;
}

/** Whether a header can hold the text: not with control characters except tab (RFC 9110 section 5.5). */
export const fitsHeader = (text: string): boolean => !/[^\t -~\u0080-\uffff]/.test(text);

/** An accessToken is sent in a header. */
const isAccessToken = (value: unknown): value is string => isText(value) && fitsHeader(value);

export const credentialsOf = ({ accessToken, refreshToken, expiresIn }: Fields): Credentials => ({
  accessToken: isAccessToken(accessToken) ? accessToken : undefined,
  refreshToken: isText(refreshToken) ? refreshToken : undefined,
  expiresIn,
});

/** Whether both tokens of an exchange are there. That is a grant whatever the status, even if they no longer work when used. */
export const holdsTokenSet = ({ accessToken, refreshToken }: Fields): boolean =>
  isAccessToken(accessToken) && isText(refreshToken);

/**
 * Whether the answer has any token field. Some services refuse with status 200: without these fields that is a refusal,
 * not a broken token set.
 */
export const claimsTokens = (fields: Fields): boolean =>
  [fields["accessToken"], fields["refreshToken"], fields["expiresIn"]].some(
    (value) => value !== undefined && value !== null,
  );

const demands = {
  accessToken: { form: "a non-empty string that a header can hold", holds: isAccessToken },
  refreshToken: { form: "a non-empty string", holds: isText },
  expiresIn: { form: "a positive number", holds: (value: unknown) => isNumber(value) && value > 0 },
  timestamp: { form: "a number", holds: isNumber },
} as const;

const demanded = {
  exchange: ["accessToken", "refreshToken", "expiresIn", "timestamp"],
  refresh: ["accessToken", "expiresIn", "timestamp"],
} as const satisfies Readonly<Record<string, readonly (keyof typeof demands)[]>>;

/** A valid exchange (section 4.2) or refresh (section 4.3) is answered with all documented fields. */
export const tokenSetBreach = (endpoint: keyof typeof demanded, fields: Fields): Breach | undefined => {
  const names: readonly (keyof typeof demands)[] = demanded[endpoint];
  const wrong = names.find((name) => !demands[name].holds(fields[name]));
  if (wrong === undefined) return undefined;
  const expected = `the answer to a valid ${endpoint} holds ${wrong}, ${demands[wrong].form}`;
  return claimsTokens(fields) ? { expected, actual: wrongly(wrong, fields) } : { expected };
};

const LONGEST_NAMES = 120;

/** What is there instead of the field that is demanded. What may be a credential is not shown. */
const wrongly = (name: keyof typeof demands, fields: Fields): string => {
  const value = fields[name];
  if (value === undefined)
    return `it holds no ${name}, only ${shorten(Object.keys(fields).join(", "), LONGEST_NAMES)}`;
  if (name === "expiresIn" || name === "timestamp") return `${name} is ${shown(value)}`;
  if (isText(value)) return `${name} is a string that no header can hold`;
  return `${name} is ${typeof value === "number" ? "a number" : shown(value)}`;
};

/** A refresh must not return a refreshToken (section 4.3), however its name is written. */
export const refreshTokenBreach = (fields: Fields): Breach | undefined =>
  Object.keys(fields).some(
    (name) =>
      name.replaceAll(/[_-]/g, "").toLowerCase() === "refreshtoken" &&
      fields[name] !== undefined &&
      fields[name] !== null &&
      fields[name] !== "",
  )
    ? { expected: "the answer to a refresh holds no refreshToken" }
    : undefined;

/** What gate and load both demand of every issued code and token (sections 2.1 and 2.2). */
export const issuedOnce = {
  code: "every authorization gets its own code",
  token: "no token is issued twice",
} as const;

/** The first value whose key is repeated, after the earlier one with that key; undefined if all keys differ. */
export const firstRepeated = <T>(
  values: readonly T[],
  keyOf: (value: T) => string,
): readonly [earlier: T, later: T] | undefined => {
  const seen = new Map<string, T>();
  for (const value of values) {
    const earlier = seen.get(keyOf(value));
    if (earlier !== undefined) return [earlier, value];
    seen.set(keyOf(value), value);
  }
  return undefined;
};
