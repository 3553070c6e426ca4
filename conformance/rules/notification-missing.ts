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

/**
 * Why a list that shows `got` notifications misses some: it had to show at least `least`, which are those with these ids
 * if lists showed them. In words that follow what was seen, with the earlier exchanges that show it.
 */
export const whyMissing = (
  { world, before, first, settled }: Certain,
  { got, least }: { readonly got: number; readonly least: number },
  reads: readonly Listing[],
  ids: Iterable<string>,
): { readonly why: string; readonly shown: readonly number[] } => {
  if (got < settled.count)
    return settled.wasAwaited
      ? { why: `; everything had to be listed ${givenToBeListed(world)}`, shown: [] }
      : { why: `; before anything was created, its total was ${before}`, shown: exchangesOf(first) };
  return least > settled.count
    ? { why: `; earlier lists had shown all ${least}`, shown: shownIn(reads, ids) }
    : { why: "", shown: [] };
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
