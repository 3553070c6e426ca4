import * as fc from "fast-check";
import { stateCharacters } from "../contract/forms.ts";
import { swapCases } from "./credentials.ts";

const characters = Array.from(stateCharacters);
const digits = characters.filter((character) => /\d/.test(character));
const stateCharacter = fc.constantFrom(...characters);

const ofLength = (length: fc.Arbitrary<number>, unit = stateCharacter): fc.Arbitrary<string> =>
  length.chain((n) => fc.string({ unit, minLength: n, maxLength: n }));

/** Valid states (section 2.1), biased to the shortest and longest ones and to digits only. */
export const validStates = (maxBytes: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: ofLength(fc.constantFrom(1, 2, maxBytes - 1, maxBytes)) },
    { weight: 3, arbitrary: ofLength(fc.integer({ min: 1, max: maxBytes })) },
    { weight: 1, arbitrary: ofLength(fc.integer({ min: 1, max: 24 }), fc.constantFrom(...digits)) },
  );

/**
 * What services turn into something else or refuse: numbers in many notations, booleans, names of their internals, words
 * that filters against attacks look for, and UUIDs, digests and ULIDs in the case in which a database does not keep them.
 */
const tellingWords = `
  0 00 007 0000000000000000000000000 1e5 1E400 12e03 0x1F 0b11 0o17 20240229T000000Z
  9007199254740993 18446744073709551616 12345678901234567890123456789
  true false TRUE null Null undefined NaN Infinity nil None on no yes off
  constructor toString hasOwnProperty prototype length valueOf then toJSON
  state code error clientId timestamp Z a
  select UNION script alert1 onload admin root
  aAbBcCzZyYxX0189 ffffffffffffffffffffffffffffffff u0041 x41 25 2541
  6F9619FF8B86D011B42D00C04FC964FF 6f9619FF8B86d011B42D00c04FC964ff
  DA39A3EE5E6B4B0D3255BFEF95601890AFD80709 01hzx3k9q7v2m8n4p6r5s0t1w2
  E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855`
  .trim()
  .split(/\s+/);

/** Valid states that are most likely to be changed on return, including the extremes of length. */
export const tellingStates = (maxBytes: number): readonly string[] =>
  [
    ...tellingWords,
    "A".repeat(maxBytes),
    "z".repeat(maxBytes - 1),
    "9".repeat(maxBytes),
    "0".repeat(maxBytes),
    `${"Aa0".repeat(maxBytes).slice(0, maxBytes - 1)}Q`,
  ].filter((state) => state.length <= maxBytes);

/** States that only careless comparison takes for this one: in another case, with a leading zero, another last character. */
export const confusedWith = (state: string): readonly string[] => [
  swapCases(state),
  `0${state}`,
  `${state}0`,
  state.slice(0, -1),
  `${state.slice(0, -1)}${state.endsWith("q") ? "r" : "q"}`,
];

/** Letters and digits, each needlessly percent-encoded: the same string once decoded (RFC 3986 section 2.3). */
export const encodedThroughout = (text: string): string =>
  [...new TextEncoder().encode(text)]
    .map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`)
    .join("");

/** Something that no state may contain, as written into the query. */
interface Foreign {
  readonly name: string;
  /** Query text, one byte a character. */
  readonly raw: string;
  /** Where in the state it is tried: at one place, at each, or at the end, where nothing following can complete it. */
  readonly at: "anywhere" | "everywhere" | "end";
  /** No HTTP client sends it, so it goes over a raw connection. */
  readonly bare?: true;
}

export const positions = ["start", "middle", "end", "alone", "far end"] as const;
type Position = (typeof positions)[number];

/** No foreign text has more bytes than this, however it is decoded. */
const LONGEST_FOREIGN_BYTES = 12;

/**
 * The valid state with the foreign text at a position of it. `far end` comes after as many letters as fit, for services
 * that only check the beginning of a long state.
 */
export const placed = (state: string, raw: string, position: Position, maxBytes: number): string => {
  if (position === "alone") return raw;
  if (position === "far end") return state.padStart(maxBytes - LONGEST_FOREIGN_BYTES, "Aa1") + raw;
  const at = { start: 0, middle: Math.ceil(state.length / 2), end: state.length }[position];
  return state.slice(0, at) + raw + state.slice(at);
};

const named = (character: string): string => {
  const point = character.codePointAt(0) ?? 0;
  const number = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  return point > 0x20 && point < 0x7f ? `"${character}"` : number;
};

const encoded = (character: string, at: Foreign["at"] = "anywhere"): Foreign => ({
  name: `${named(character)} percent-encoded`,
  raw: encodedThroughout(character),
  at,
});

const range = (first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, offset) => String.fromCodePoint(first + offset));

const isStateCharacter = (character: string): boolean => /^[a-zA-Z0-9]$/.test(character);

/** Careless code trims these or takes them for the end of the text, so their position matters. */
const edgeCharacters = ["\0", "\t", "\n", "\r", " ", "\u00A0", "\uFEFF", "\u200B"] as const;

const asciiSymbols = range(0x21, 0x7e).filter((character) => !isStateCharacter(character));
const controls = [...range(0x00, 0x1f), "\x7F"].filter(
  (character) => !edgeCharacters.some((edge) => edge === character),
);

/**
 * Letters, digits and marks outside ASCII that pass `\w`, `\d`, isalnum, case folding (ſ and K fold into ASCII),
 * compatibility normalization (Ａ, ①, ²), or as look-alikes.
 */
const unicodeCharacters = Array.from(
  "éßÑıİſ\u212A\u212Bªºµ²½ÿ" +
    "яЯаαΩ٣९中あ한א" +
    "０９Ａｚ①Ⅷ㎏ﬁ" +
    "😀𝐀𝟘🄰" +
    "\u0301\u200D\u202E\u2028\u00AD\u0085\uFFFD\u180E",
);

/** Literal in the query, where most parsers accept them; `&`, `#`, `;` and `=` would be read as query syntax. */
const literalSymbols = Array.from("!$'()*+,-./:?@_~^`|{}[]\"<>\\");

const malformed = (name: string, raw: string): Foreign => ({ name, raw, at: "anywhere" });

/** Everything that the document's alphabet excludes, as lists that are the same in every run. */
export const foreigners: readonly Foreign[] = [
  ...edgeCharacters.map((character) => encoded(character, "everywhere")),
  ...asciiSymbols.map((character) => encoded(character)),
  ...controls.map((character) => encoded(character)),
  ...unicodeCharacters.map((character) => encoded(character)),
  ...literalSymbols.map((character) => malformed(`"${character}" as it is`, character)),
  { name: "CR LF percent-encoded", raw: "%0D%0A", at: "everywhere" },
  { name: "a plus sign (a space, or itself)", raw: "+", at: "everywhere" },
  malformed("a letter percent-encoded twice (%2541)", "%2541"),
  malformed("a digit percent-encoded twice (%2530)", "%2530"),
  malformed("a space percent-encoded twice", "%2520"),
  malformed("the letter A in two bytes, overlong (C1 81)", "%C1%81"),
  malformed("the letter A in three bytes, overlong", "%E0%81%81"),
  malformed("the letter A in four bytes, overlong", "%F0%80%81%81"),
  malformed("NUL in two bytes, overlong (C0 80)", "%C0%80"),
  malformed("a continuation byte alone", "%80"),
  malformed("a sequence cut short (C3)", "%C3"),
  malformed("a longer sequence cut short (E2 82)", "%E2%82"),
  malformed("é in Latin-1 (E9)", "%E9"),
  malformed("a byte that UTF-8 never has (FF)", "%FF"),
  malformed("a lone surrogate (ED A0 80)", "%ED%A0%80"),
  malformed("a code point beyond Unicode", "%F5%80%80%80"),
  { name: "a percent sign alone", raw: "%", at: "end" },
  malformed("a percent sign with letters (%zz)", "%zz"),
  { name: "half a percent-encoding (%4)", raw: "%4", at: "end" },
  malformed("an escape of JavaScript (%u0041)", "%u0041"),
  malformed("an escape of JSON", "%5Cu0041"),
  malformed("an entity of HTML", "%26%2365%3B"),
  malformed("é as raw UTF-8", "\xC3\xA9"),
  malformed("é as a raw Latin-1 byte", "\xE9"),
  malformed("raw overlong UTF-8", "\xC1\x81"),
  malformed("a raw byte FF", "\xFF"),
  { name: "a raw space", raw: " ", at: "anywhere", bare: true },
  { name: "a raw tab", raw: "\t", at: "anywhere", bare: true },
  { name: "a raw NUL", raw: "\0", at: "anywhere", bare: true },
  { name: "a raw control character", raw: "\x01", at: "anywhere", bare: true },
  { name: "a raw DEL", raw: "\x7F", at: "anywhere", bare: true },
];

export interface ForeignProbe extends Foreign {
  readonly position: Position;
}

/**
 * The probes of one run: those whose position matters at each position, the others at one selected by the seed, or
 * (`everyPlace`) at each too.
 */
export const foreignProbes = (seed: number, everyPlace: boolean): readonly ForeignProbe[] =>
  foreigners.flatMap((foreign, index) =>
    placesOf(foreign, everyPlace, (seed >>> 0) + index).map((position) => ({ ...foreign, position })),
  );

const placesOf = ({ at }: Foreign, everyPlace: boolean, clientIndex: number): readonly Position[] => {
  if (at === "end") return ["end", "far end"];
  if (everyPlace) return positions;
  if (at === "everywhere") return ["start", "middle", "end", "far end"];
  return [positions[clientIndex % positions.length] ?? "middle"];
};
