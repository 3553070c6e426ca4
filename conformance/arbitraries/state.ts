import * as fc from "fast-check";
import { stateCharacters } from "../contract/forms.ts";
import { swapCases } from "./credentials.ts";

const characters = Array.from(stateCharacters);
const digits = characters.filter((character) => /\d/.test(character));
const letters = characters.filter((character) => !digits.includes(character));
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

/** Two states that only careless comparison takes for the same: other case, a leading zero, the last character. */
export const confusableStates = (maxBytes: number): fc.Arbitrary<readonly [string, string]> =>
  fc
    .tuple(
      fc.constantFrom(...letters),
      fc.string({ unit: stateCharacter, minLength: 7, maxLength: maxBytes - 3 }),
      fc.constantFrom("case", "zero", "last", "longer", "shorter"),
    )
    .map(([first, rest, way]) => [first + rest, confusedWith(first + rest, way)]);

const confusedWith = (state: string, way: "case" | "zero" | "last" | "longer" | "shorter"): string => {
  if (way === "case") return swapCases(state);
  if (way === "zero") return `0${state}`;
  if (way === "longer") return `${state}0`;
  if (way === "shorter") return state.slice(0, -1);
  return `${state.slice(0, -1)}${state.endsWith("q") ? "r" : "q"}`;
};

/** Letters and digits, each needlessly percent-encoded: the same string once decoded (RFC 3986 section 2.3). */
export const encodedThroughout = (text: string): string =>
  [...new TextEncoder().encode(text)]
    .map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`)
    .join("");
