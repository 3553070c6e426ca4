import fc from "fast-check";
import { counted } from "../contract/text.ts";
import type { ListQuery } from "../judging/laws/lists.ts";
import { type AccountSet, twinOf } from "../world/dataset.ts";

export const limitText = (limit: number | undefined): string =>
  limit === undefined ? "no limit" : `limit=${limit}`;

export const printLength = ({ ids }: AccountSet): string =>
  `an account with ${counted(ids.length, "notification")}`;

/** Limits worth trying on a list of this length: around 1, the default and the length, its divisors, and round numbers. */
export const tellingLimits = (length: number, defaultLimit: number, greatest: number): readonly number[] => {
  const half = Math.ceil(length / 2);
  const edges = [defaultLimit, half, length].flatMap(around);
  const candidates = [1, 2, 3, ...edges, 2 * defaultLimit, 25, 50, 100, greatest];
  return [...new Set(candidates)]
    .filter((limit) => limit >= 1 && limit <= greatest)
    .toSorted((a, b) => a - b);
};

/** Any limit that the service must serve, revealing ones more often. */
export const limits = (length: number, defaultLimit: number, greatest: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...tellingLimits(length, defaultLimit, greatest)) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: greatest }) },
  );

/** How many pages of this size a list of this length has; an empty one has none. */
export const pagesIn = (length: number, limit: number): number => Math.ceil(length / limit);

/** Existing pages of the accounts, the first and the last more often. With `past`, also pages beyond the end. */
export const anyPage = (
  accounts: readonly AccountSet[],
  defaultLimit: number,
  greatest: number,
  past = 0,
): fc.Arbitrary<ListQuery> =>
  fc.constantFrom(...accounts).chain(({ accountId, ids: { length } }) =>
    limits(length, defaultLimit, greatest).chain((limit) => {
      const last = Math.max(0, pagesIn(length, limit) - 1);
      const page = fc.oneof(
        fc.constantFrom(0, last),
        fc.integer({ min: 0, max: last }),
        ...(past > 0 ? [fc.integer({ min: last + 1, max: last + past })] : []),
      );
      return page.map((one) => ({ accountId, limit, page: one }));
    }),
  );

const around = (n: number): readonly number[] => [n - 1, n, n + 1];

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
