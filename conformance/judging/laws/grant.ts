import { isText, shown, type PlainAnswer } from "./answer.ts";
import type { Breach } from "./breach.ts";

/** What an authorize answer granted, wherever the service put it. */
export interface Grant {
  readonly code: string;
  /** As it came: a string, if the service keeps its promise. */
  readonly state: unknown;
  readonly via: "json" | "redirect";
}

/**
 * The grant in an authorize answer: a non-empty string `code` in the JSON body, or in the query or fragment of a
 * redirect's absolute Location. Section 4.1 does not show the redirect, so both are accepted. Status decides nothing:
 * even an error's body may carry a code that works.
 */
export const grantOf = ({ status, fields, location }: PlainAnswer): Grant | undefined => {
  if (location !== undefined && status >= 300 && status < 400 && isAbsolute(location)) {
    const parameters = parametersOf(location);
    const code = parameters.get("code");
    if (isText(code)) return { code, state: parameters.get("state"), via: "redirect" };
  }
  const { code, state } = fields;
  return isText(code) ? { code, state, via: "json" } : undefined;
};

const isAbsolute = (address: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(address);

/** Parameters of query and fragment; the first of each name counts. Written by hand because k6 has no URL class. */
const parametersOf = (address: string): ReadonlyMap<string, string> => {
  const [, query = "", fragment = ""] = /^[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(address) ?? [];
  const parameters = new Map<string, string>();
  for (const pair of `${query}&${fragment}`.split("&")) {
    const at = pair.indexOf("=");
    const name = decoded(at < 0 ? pair : pair.slice(0, at));
    if (!parameters.has(name)) parameters.set(name, at < 0 ? "" : decoded(pair.slice(at + 1)));
  }
  return parameters;
};

/** Decodes a component, leaving percent sequences that are not UTF-8 as they are. */
const decoded = (text: string): string =>
  text.replaceAll("+", " ").replaceAll(/(?:%[0-9a-f]{2})+/gi, (sequence) => {
    try {
      return decodeURIComponent(sequence);
    } catch {
      return sequence;
    }
  });

export const yieldsCode = "a valid authorize request yields a code";

/** A valid authorize request is answered with a code and, in a JSON body, a numeric timestamp (section 4.1). */
export const grantBreach = (answer: PlainAnswer): Breach | undefined => {
  const grant = grantOf(answer);
  if (grant === undefined) return { expected: yieldsCode };
  return grant.via === "json" && typeof answer.fields["timestamp"] !== "number"
    ? { expected: "the answer carries a numeric timestamp" }
    : undefined;
};

/**
 * The answer must carry the state that was sent (section 2.1). `others` are the states of concurrent requests: an
 * answer with one of those belongs to another request.
 */
export const echoBreach = (
  grant: Grant | undefined,
  state: string,
  others: readonly string[] = [],
): Breach | undefined => {
  if (grant?.state === state) return undefined;
  const expected = `the answer carries the exact state that was sent, ${state}`;
  if (grant === undefined) return { expected };
  if (grant.state === undefined) return { expected, actual: "it carries no state" };
  if (typeof grant.state !== "string")
    return { expected, actual: `its state is ${shown(grant.state)}, not a string` };
  return {
    expected,
    actual: others.includes(grant.state)
      ? `it carries ${grant.state}, which a concurrent request sent`
      : `it carries ${JSON.stringify(grant.state)}`,
  };
};
