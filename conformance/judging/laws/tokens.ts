import { isNumber, isText, type Fields } from "./answer.ts";
import type { Breach } from "./breach.ts";

/** Credentials in a token answer, whatever its status; each only where it is a non-empty string. */
export interface Credentials {
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly expiresIn: unknown;
}

export const credentialsOf = ({ accessToken, refreshToken, expiresIn }: Fields): Credentials => ({
  accessToken: isText(accessToken) ? accessToken : undefined,
  refreshToken: isText(refreshToken) ? refreshToken : undefined,
  expiresIn,
});

/** Both tokens of an exchange: a grant, whatever the status says and whether they still work by the time they are used. */
export const holdsTokenSet = ({ accessToken, refreshToken }: Fields): boolean =>
  isText(accessToken) && isText(refreshToken);

/** Some services refuse with status 200: an answer without any of these fields is a refusal, not a broken token set. */
export const claimsTokens = (fields: Fields): boolean =>
  [fields["accessToken"], fields["refreshToken"], fields["expiresIn"]].some(
    (value) => value !== undefined && value !== null,
  );

const demands = {
  accessToken: { form: "a non-empty string", holds: isText },
  refreshToken: { form: "a non-empty string", holds: isText },
  expiresIn: { form: "a positive number", holds: (value: unknown) => isNumber(value) && value > 0 },
  timestamp: { form: "a number", holds: isNumber },
} as const;

const demanded = {
  exchange: ["accessToken", "refreshToken", "expiresIn", "timestamp"],
  refresh: ["accessToken", "expiresIn", "timestamp"],
} as const satisfies Readonly<Record<string, readonly (keyof typeof demands)[]>>;

/** A right exchange (section 4.2) or refresh (section 4.3) is answered with all documented fields. */
export const tokenSetBreach = (endpoint: keyof typeof demanded, fields: Fields): Breach | undefined => {
  const names: readonly (keyof typeof demands)[] = demanded[endpoint];
  const wrong = names.find((name) => !demands[name].holds(fields[name]));
  return wrong === undefined
    ? undefined
    : { expected: `the answer to a right ${endpoint} holds ${wrong}, ${demands[wrong].form}` };
};

/** A refresh returns no new refreshToken (section 4.3), in whatever style its name is written. */
export const refreshTokenBreach = (fields: Fields): Breach | undefined =>
  Object.keys(fields).some(
    (name) =>
      name.replaceAll(/[_-]/g, "").toLowerCase() === "refreshtoken" &&
      fields[name] !== undefined &&
      fields[name] !== null &&
      fields[name] !== "",
  )
    ? { expected: "a refresh answers without a refreshToken" }
    : undefined;

/** What the gate and a load demand of every code and token that is issued (sections 2.1 and 2.2). */
export const issuedOnce = {
  code: "every authorization gets its own code",
  token: "no token is issued twice",
} as const;

/** The first two values, in their order, whose key is the same; undefined where all differ. */
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
