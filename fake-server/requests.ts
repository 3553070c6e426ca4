import { isObject, parseJson } from "../conformance/contract/json.ts";
import { isUtf8 } from "node:buffer";

/** The unvalidated fields of a JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads a request body strictly: undefined unless it is well-formed UTF-8 with exactly one JSON object and no duplicate
 * top-level keys, because a repeated key leaves open which value was meant.
 */
export const parseBody = (raw: Buffer): JsonObject | undefined => {
  if (!isUtf8(raw)) return undefined;
  const text = raw.toString("utf8");
  const value = parseJson(text);
  return isObject(value) && !hasAmbiguousKeys(text) ? value : undefined;
};

const QUOTE = 0x22;
const COLON = 0x3a;
const OPENING_INTERVAL = 0x5b;
const CLOSING_INTERVAL = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Whether the outermost object of a valid JSON text has a duplicate key (or too many keys to compare). At that depth a
 * string is a key exactly if a colon follows it.
 */
const hasAmbiguousKeys = (text: string): boolean => {
  const keys: string[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (character === OPENING_BRACE || character === OPENING_INTERVAL) depth += 1;
    else if (character === CLOSING_BRACE || character === CLOSING_INTERVAL) depth -= 1;
    else if (character === QUOTE) {
      const end = endOfString(text, at);
      if (depth === 1 && text.charCodeAt(afterWhiteSpace(text, end)) === COLON) {
        const key = unescaped(text.slice(at, end));
        if (keys.includes(key)) return true;
        keys.push(key);
        if (keys.length > KEYS_MAX) return true;
      }
      at = end - 1;
    }
  }
  return false;
};

/** A token request has three fields; an object with this many is not one, and not worth comparing. */
const KEYS_MAX = 256;

const unescaped = (literal: string): string =>
  literal.includes("\\") ? String(JSON.parse(literal)) : literal.slice(1, -1);

/** The position after the closing quote of the string that opens at `start`. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
};

const isEscaped = (text: string, quote: number): boolean => {
  let slashes = 0;
  while (text.charAt(quote - 1 - slashes) === "\\") slashes += 1;
  return slashes % 2 === 1;
};

const WHITE_SPACE = " \t\n\r";
const afterWhiteSpace = (text: string, start: number): number => {
  let at = start;
  while (WHITE_SPACE.includes(text.charAt(at)) && at < text.length) at += 1;
  return at;
};

/** The decoded parameters of a query. A repeated name keeps its first value and is listed. */
export interface Query {
  /** As in the request, without the question mark. */
  readonly raw: string;
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}

const NO_PARAMETERS: Query = { raw: "", values: new Map(), repeated: [] };

/** The part of a request target after the question mark; empty without one. */
export const rawQueryOf = (target: string): string => {
  const mark = target.indexOf("?");
  return mark < 0 ? "" : target.slice(mark + 1);
};

/**
 * Decodes a query strictly: undefined if any percent-encoding is truncated, not hexadecimal, or not well-formed UTF-8
 * (including overlong forms and lone surrogates). A plus sign means a space, as in forms.
 */
export const parseQuery = (raw: string): Query | undefined => {
  if (raw === "") return NO_PARAMETERS;
  const values = new Map<string, string>();
  const repeated: string[] = [];
  try {
    for (const part of raw.split("&")) {
      const equals = part.indexOf("=");
      const name = decoded(equals < 0 ? part : part.slice(0, equals));
      if (values.has(name)) repeated.push(name);
      else values.set(name, equals < 0 ? "" : decoded(part.slice(equals + 1)));
    }
    return { raw, values, repeated };
  } catch {
    return undefined;
  }
};

/** The first value of a parameter, before decoding. */
export const rawValueOf = (query: Query, name: string): string | undefined => {
  const part = query.raw.split("&").find((candidate) => candidate.startsWith(`${name}=`));
  return part?.slice(name.length + 1);
};

const ENCODED = /[%+]/;
const decoded = (text: string): string =>
  ENCODED.test(text) ? decodeURIComponent(text.replaceAll("+", " ")) : text;
