import fc from "fast-check";
import { twinOf } from "../world/dataset.ts";

/**
 * Values that are not another spelling of this UUID and so match nothing that it identifies: truncated, extended,
 * changed in one digit, and wildcards of pattern or query languages.
 */
export const nearMisses = (uuid: string): readonly string[] => {
  const last = uuid.length - 1;
  return [
    uuid.slice(0, last),
    uuid.slice(0, 8),
    uuid.slice(0, 1),
    uuid.slice(1),
    uuid.slice(-12),
    `${uuid}0`,
    `0${uuid}`,
    `${uuid}${uuid}`,
    twinOf(uuid, last),
    twinOf(uuid, 0),
    twinOf(uuid, 10),
    twinOf(uuid, 25),
    uuid.replaceAll("-", "_"),
    "%",
    `${uuid.slice(0, last)}%`,
    `%${uuid.slice(1)}`,
    `${uuid.slice(0, last)}_`,
    `_${uuid.slice(1)}`,
    "_".repeat(uuid.length),
    "*",
    `${uuid.slice(0, last)}*`,
    `${uuid.slice(0, last)}?`,
    ".*",
    `${uuid.slice(0, last)}.`,
    `^${uuid}`,
    `' OR '1'='1`,
    `${uuid}' OR 'a'='a`,
    `${uuid}' --`,
    ..."0 1 null undefined true NaN {} []".split(" "),
  ];
};

/** Random near misses: one digit changed, or the UUID truncated, anywhere. */
export const anyNearMiss = (uuid: string): fc.Arbitrary<string> => {
  const digits = uuid.split("").flatMap((character, index) => (character === "-" ? [] : [index]));
  return fc.oneof(
    fc.constantFrom(...digits).map((index) => twinOf(uuid, index)),
    fc.integer({ min: 1, max: uuid.length - 1 }).map((length) => uuid.slice(0, length)),
    fc
      .tuple(fc.constantFrom(...digits), fc.constantFrom("%", "_", "*", ".", "?"))
      .map(([index, wildcard]) => uuid.slice(0, index) + wildcard + uuid.slice(index + 1)),
  );
};

/** Other spellings of the same UUID (RFC 9562 section 4): they may be understood or not, but mean nothing else. */
export const otherSpellings = (uuid: string): readonly string[] => [
  uuid.toUpperCase(),
  uuid.toLowerCase(),
  Array.from(uuid, (one, index) => (index % 2 === 0 ? one.toUpperCase() : one)).join(""),
  `{${uuid}}`,
  `urn:uuid:${uuid}`,
  uuid.replaceAll("-", ""),
  ` ${uuid}`,
  `${uuid} `,
];
