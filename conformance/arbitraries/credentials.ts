import { createHash } from "node:crypto";
import { uuidShape } from "../contract/forms.ts";

/** A way to get a credential nearly right: what is sent instead of the right value. */
export interface NearMiss {
  readonly name: string;
  /** The altered value; equal to the value if there is nothing to alter (a flip of case without letters). */
  readonly alter: (value: string) => unknown;
}

const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * Another character of the same sort. Its index in the base64 alphabet differs by 32, so that it changes significant
 * bits even at the end of a value.
 */
export const otherCharacter = (character: string): string => {
  const at = base64url.indexOf(character);
  return at < 0 ? "x" : (base64url[at ^ 32] ?? "x");
};

const replaceAt = (value: string, at: number, by: (character: string) => string): string =>
  value.slice(0, at) + by(value.charAt(at)) + value.slice(at + 1);

const swapCase = (text: string): string =>
  text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();

export const swapCases = (text: string): string => Array.from(text).map(swapCase).join("");

/**
 * Letters that look alike or fold together: full width (NFKC), accents (loose collations), Cyrillic, long s and the
 * Kelvin sign.
 */
const fullWidth = (character: string): string => String.fromCodePoint(character.charCodeAt(0) + 0xfee0);
const mapOf = (from: string, to: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(from, (character, at) => [character, Array.from(to)[at] ?? character]));
const accented = mapOf("aeiouAEIOUcn", "áéíóúÁÉÍÓÚçñ");
const lookalike = mapOf("aeocpxABCEHKMOPT", "аеосрхАВСЕНКМОРТ");
const foldsTo: Readonly<Record<string, string>> = { k: "\u212A", K: "\u212A", s: "\u017F", S: "\u017F" };

const mapped = (value: string, map: Readonly<Record<string, string>>): string => {
  const at = Array.from(value).findIndex((character) => map[character] !== undefined);
  return at < 0 ? value : replaceAt(value, at, (character) => map[character] ?? character);
};

/**
 * The bytes of a part of a credential, in hex, if it is base64 of either alphabet. Lenient decoders read past padding
 * that does not belong there; it is refused only behind what may be plain text, such as hexadecimal.
 */
const bytesOf = (part: string, signed: boolean): string | undefined => {
  const text = part.replace(/={1,2}$/, "");
  const isBase64 = /^[\w+/-]+$/.test(text) && text.length % 4 !== 1;
  return isBase64 && (text === part || signed || text.length % 4 !== 0)
    ? Buffer.from(text, "base64").toString("hex")
    : undefined;
};

/**
 * Whether two values are the same credential to a service that signs or encrypts what it issues and decodes the
 * bytes: they differ only in padding or base64 alphabet, so knowing one gives nothing more than the other.
 */
export const isSameCredential = (issued: string, presented: unknown): boolean => {
  if (typeof presented !== "string") return false;
  const [parts, others] = [issued.split("."), presented.split(".")];
  return (
    parts.length === others.length &&
    parts.every((part, at) => {
      const bytes = bytesOf(part, parts.length > 1);
      return (
        part === others[at] || (bytes !== undefined && bytes === bytesOf(others[at] ?? "", parts.length > 1))
      );
    })
  );
};

const uuidDigits = (text: string): string => text.trim().toLowerCase().replaceAll(/[{}-]/g, "");

/**
 * The same for a clientId, which is no secret: a service may also store UUIDs as such, to which all spellings of one are
 * the same (RFC 9562 section 4).
 */
export const isSameClientId = (id: string, presented: unknown): boolean =>
  isSameCredential(id, presented) ||
  (typeof presented === "string" && uuidShape.test(id) && uuidDigits(id) === uuidDigits(presented));

const miss = (name: string, alter: NearMiss["alter"]): NearMiss => ({ name, alter });

/** Near misses that are strings which an HTTP header can carry too. */
export const plainMisses: readonly NearMiss[] = [
  miss("all in capitals", (value) => value.toUpperCase()),
  miss("all in small letters", (value) => value.toLowerCase()),
  miss("case of every letter flipped", swapCases),
  miss("case of one letter flipped", (value) => value.replace(/[a-z]/i, swapCase)),
  miss("without its last character", (value) => value.slice(0, -1)),
  miss("without its first character", (value) => value.slice(1)),
  miss("its first half", (value) => value.slice(0, Math.ceil(value.length / 2))),
  miss("its first eight characters", (value) => value.slice(0, 8)),
  miss("its first character", (value) => value.slice(0, 1)),
  miss("its second half", (value) => value.slice(Math.floor(value.length / 2))),
  miss("first character changed", (value) => replaceAt(value, 0, otherCharacter)),
  miss("middle character changed", (value) => replaceAt(value, value.length >> 1, otherCharacter)),
  miss("last character changed", (value) => replaceAt(value, value.length - 1, otherCharacter)),
  miss("two neighbours swapped", swapNeighbours),
  miss("backwards", (value) => Array.from(value).toReversed().join("")),
  miss("one character more", (value) => `${value}A`),
  miss("one digit more", (value) => `${value}0`),
  miss("one character before it", (value) => `0${value}`),
  miss("padded with =", (value) => `${value}=`),
  miss("padded with ==", (value) => `${value}==`),
  miss("twice in a row", (value) => value + value),
  miss("in quotes", (value) => `"${value}"`),
  miss("in braces", (value) => `{${value}}`),
  miss("a dash put in", (value) => `${value.slice(0, 4)}-${value.slice(4)}`),
  miss("its dashes left out", (value) => value.replaceAll("-", "")),
  miss("its dashes and underscores as + and /", (value) => value.replaceAll("-", "+").replaceAll("_", "/")),
  miss("first character percent-encoded", (value) => `%${value.charCodeAt(0).toString(16)}${value.slice(1)}`),
  miss("followed by %00", (value) => `${value}%00`),
  miss("followed by a list separator", (value) => `${value},x`),
  miss("followed by a semicolon", (value) => `${value};x`),
  miss("followed by a dot", (value) => `${value}.`),
  miss("followed by a wildcard", (value) => `${value.slice(0, -1)}*`),
  miss("followed by a LIKE wildcard", (value) => `${value.slice(0, -1)}%`),
  miss("a LIKE wildcard for its first character", (value) => `_${value.slice(1)}`),
  miss("a regular expression", (value) => `^${value.slice(0, -1)}.`),
  miss("only a LIKE wildcard", () => "%"),
  miss("only a regular expression", () => ".*"),
  miss("in base64", (value) => Buffer.from(value).toString("base64")),
  miss("its SHA-256", (value) => createHash("sha256").update(value).digest("hex")),
  miss("behind the word Bearer", (value) => `Bearer ${value}`),
  miss("in an address", (value) => `https://client.example/callback?code=${value}`),
  miss("SQL", () => "' OR '1'='1"),
  miss("the word null", () => "null"),
  miss("the word undefined", () => "undefined"),
  miss("the name of an inherited field", () => "constructor"),
  miss("the name __proto__", () => "__proto__"),
];

/** Near misses by white space, which trimming would make right. */
export const spacedMisses: readonly NearMiss[] = [
  miss("a space after it", (value) => `${value} `),
  miss("a space before it", (value) => ` ${value}`),
  miss("a space on either side", (value) => ` ${value} `),
  miss("a space inside it", (value) => `${value.slice(0, 5)} ${value.slice(5)}`),
  miss("a tab after it", (value) => `${value}\t`),
  miss("a line feed after it", (value) => `${value}\n`),
  miss("CR LF after it", (value) => `${value}\r\n`),
  miss("a line feed before it", (value) => `\n${value}`),
  miss("its plus signs as spaces", (value) => value.replaceAll("+", " ")),
];

/** Near misses that only a JSON string can carry. */
export const unicodeMisses: readonly NearMiss[] = [
  miss("NUL after it", (value) => `${value}\u0000`),
  miss("NUL and more after it", (value) => `${value}\u0000x`),
  miss("a no-break space after it", (value) => `${value}\u00a0`),
  miss("a zero-width space after it", (value) => `${value}\u200b`),
  miss("a byte order mark before it", (value) => `\ufeff${value}`),
  miss("one character in full width", (value) => value.replace(/[a-z0-9]/i, fullWidth)),
  miss("one letter with an accent", (value) => mapped(value, accented)),
  miss("a combining accent after it", (value) => `${value}\u0301`),
  miss("five thousand characters more", (value) => value + ".".repeat(5_000)),
  miss("one letter of another script", (value) => mapped(value, lookalike)),
  miss("one letter that folds to the same", (value) => mapped(value, foldsTo)),
];

/** Values that are not strings, some of which coercion turns into the right string or a matching query. */
export const otherTypes: readonly NearMiss[] = [
  miss("null", () => null),
  miss("true", () => true),
  miss("zero", () => 0),
  miss("one", () => 1),
  miss("as a number", (value) => (/^[1-9]\d{0,14}$/.test(value) ? Number(value) : value.length)),
  miss("in an array", (value) => [value]),
  miss("twice in an array", (value) => [value, value]),
  miss("an empty array", () => []),
  miss("in an object", (value) => ({ value })),
  miss("an empty object", () => ({})),
  miss("as the characters of an array", (value) => Array.from(value)),
  miss("a query operator for any other value", () => ({ $ne: "x" })),
  miss("a query operator for any greater value", () => ({ $gt: "" })),
  miss("a query operator with a pattern", () => ({ $regex: ".*" })),
  miss("a value with a length of its own", (value) => ({ length: value.length, 0: value })),
];

/**
 * Objects that name a column: a driver that expands objects in a query compares the column with itself, which is true for
 * every row.
 */
export const columnNames = (...names: readonly string[]): readonly NearMiss[] =>
  names.map((name) => miss(`an object that names the column ${name}`, () => ({ [name]: 1 })));

/** Values that stand for nothing. */
export const blanks: readonly NearMiss[] = [
  miss("empty", () => ""),
  miss("one space", () => " "),
  miss("as many spaces as it has characters", (value) => " ".repeat(value.length)),
];

/** Every near miss that a JSON field can carry. */
export const nearMisses: readonly NearMiss[] = [
  ...blanks,
  ...plainMisses,
  ...spacedMisses,
  ...unicodeMisses,
  ...otherTypes,
];

function swapNeighbours(value: string): string {
  const at = Array.from(value).findIndex((character, index) => index > 0 && value[index - 1] !== character);
  return at < 1 ? value : swapAt(value, at - 1);
}

function swapAt(value: string, at: number): string {
  return value.slice(0, at) + value.charAt(at + 1) + value.charAt(at) + value.slice(at + 2);
}

export const isAnything = ({ alter }: NearMiss): boolean =>
  JSON.stringify(alter("first0000")) === JSON.stringify(alter("Second111"));

/** Near misses that name no credential at all, so a careless lookup may match any. */
export const catchAlls: readonly NearMiss[] = nearMisses.filter(isAnything);
/** Near misses that are close to one credential. */
export const misspellings: readonly NearMiss[] = nearMisses.filter((miss) => !isAnything(miss));
