import { exchangesOf, type Listing } from "./shared/lists.ts";
import { givenToBeListed } from "../world/listing.ts";
import type { World } from "../world/world.ts";

/* Why notifications that a list lacks had to be on it. */

/** What an account certainly holds, and how that is known. */
export interface Certain {
  readonly world: Pick<World, "tolerances" | "clock">;
  /** What the account held before anything was created, by this list; zero in a fresh one. */
  readonly before: number;
  readonly first: Listing;
  /**
   * What is certainly listed: the number, by the first list until something acknowledged was waited for, and those whose
   * ids the hook returned.
   */
  readonly settled: {
    readonly count: number;
    readonly ids: ReadonlySet<string>;
    readonly wasAwaited: boolean;
  };
}

/** Why missing notifications had to be there: they were waited for, the first list counted them, or a list showed them. */
export type Short = "awaited" | "counted" | "shown" | "not short";

/** Why so many had to be there that this is less than the least. */
export const shortOf = ({ settled }: Certain, got: number, least: number): Short => {
  if (got < settled.count) return settled.wasAwaited ? "awaited" : "counted";
  return least > settled.count ? "shown" : "not short";
};

export const missingText = ({ world, before }: Certain, short: Short, least: number): string => {
  if (short === "awaited") return `; everything had to be listed ${givenToBeListed(world)}`;
  if (short === "counted") return `; before anything was created, its total was ${before}`;
  return short === "shown" ? `; earlier lists had shown all ${least}` : "";
};

/** The earlier exchanges that show that these notifications had to be there. */
export const earlierOf = (
  { first }: Certain,
  short: Short,
  reads: readonly Listing[],
  ids: Iterable<string>,
): readonly number[] => {
  if (short === "counted") return exchangesOf(first);
  return short === "shown" ? shownIn(reads, ids) : [];
};

/** The numbers of a few of these exchanges that together showed all these notifications. */
const shownIn = (reads: readonly Listing[], ids: Iterable<string>): readonly number[] => {
  const left = new Set(ids);
  const chosen: Listing[] = [];
  for (;;) {
    const counts = reads.map((read) => read.ids.filter((id) => left.has(id)).length);
    const most = Math.max(0, ...counts);
    const read = reads[counts.indexOf(most)];
    if (most === 0 || read === undefined) return exchangesOf(...chosen);
    chosen.push(read);
    for (const id of read.ids) left.delete(id);
  }
};
