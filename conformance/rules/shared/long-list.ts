import { expectThat, pass, shownBy, type CaseVerdict } from "../../judging/case-verdict.ts";
import type { ListQuery } from "../../judging/laws/lists.ts";
import { exchangesOf, readCutPages, readPages, type List } from "./lists.ts";

/** An odd limit, so that pages begin at offsets that are multiples of little else. */
const ODD_LIMIT = 7;
/** Longer than accounts and the usual defaults and maxima, so that only a long list has a second page of it. */
const WIDE_LIMIT = 64;
const MOST_PAGES = 60;

/**
 * The whole list, longer than any list that other rules read: its pages hold each notification once, and total counts
 * them. Judges nothing if others write to it meanwhile.
 */
export const longListHolds = async (list: List, defaultLimit: number): Promise<readonly CaseVerdict[]> => {
  const isWideServed = (await list({ limit: WIDE_LIMIT })).ids.length === WIDE_LIMIT;
  return [
    await holdsAt(list, Math.min(ODD_LIMIT, defaultLimit)),
    ...(isWideServed ? [await holdsAt(list, WIDE_LIMIT)] : []),
  ];
};

const holdsAt = async (list: List, limit: number): Promise<CaseVerdict> => {
  const before = await list({ limit: 1 });
  const pages = await readPages(list, { limit }, MOST_PAGES);
  const after = await list({ limit: 1 });
  if (!before.served || before.total !== after.total || pages.some(({ served }) => !served)) return pass;
  const ids = pages.flatMap((page) => page.ids);
  const found = new Set(ids).size;
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  // What appears twice is shown by the pages on which it does, what is missing by all.
  const telling = twice === undefined ? pages : pages.filter((page) => page.ids.includes(twice)).slice(0, 2);
  const hasEnded = pages.at(-1)?.ids.length === 0;
  return shownBy(
    exchangesOf(before, ...telling, after),
    expectThat(
      ids.length === found && (!hasEnded || before.total === found),
      "while nobody writes, the pages of a long list hold each notification once, and total is their number",
      `with limit=${limit}, ${pages.length} pages hold ${found} notifications and ${ids.length - found} repeated ones, and total is ${JSON.stringify(before.total)}`,
    ),
  );
};

/**
 * The same with a limit that the service cuts down, of a list or a part of it: the pages that are cut show what total
 * counts, each once, unless others write meanwhile, and in any case what was there before (`ids`, in lower case).
 */
export const cutListHolds = async (
  list: List,
  query: ListQuery,
  ids: Iterable<string>,
): Promise<readonly CaseVerdict[]> => {
  const before = await list({ ...query, limit: 1 });
  const pages = await readCutPages(list, query);
  if (pages === undefined) return [];
  const shown = pages.flatMap((page) => page.ids);
  const found = new Set(shown);
  const after = await list({ ...query, limit: 1 });
  const isQuiet = before.served && before.total === after.total && typeof before.total === "number";
  const missing = [...ids].filter((id) => !found.has(id)).length;
  const seen = `${pages.length} pages, the first with ${pages[0]?.said ?? "nothing"}`;
  return [
    expectThat(
      missing === 0,
      "with a limit above the maximum, reading pages until one is empty shows everything that was there at the start",
      `${missing} did not appear on ${seen}`,
    ),
    expectThat(
      !isQuiet || (found.size >= before.total && found.size === shown.length),
      "while nobody writes, reading pages with a limit above the maximum until one is empty shows as many notifications as total counts, each once",
      `total is ${String(before.total)}, and ${found.size} appeared on ${seen}, ${shown.length - found.size} of them again`,
    ),
  ].map((verdict) => shownBy(exchangesOf(before, ...pages, after), verdict));
};
