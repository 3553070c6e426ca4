import { pageOf, type Answer } from "./exchange.ts";
import { untilListed } from "./listing.ts";
import type { ListRequest } from "./target.ts";
import type { World } from "./world.ts";

type Item = Readonly<Record<string, unknown>>;

/** Page size to request if a default page does not show what is looked for. */
export const LARGE_PAGE = 50;

/** The result of looking for one notification. */
export interface Listed {
  readonly answer: Answer;
  readonly item: Item | undefined;
  /** Whether the answer held everything that matched: if others write to the account, one page says nothing. */
  readonly isWhole: boolean;
}

/**
 * Looks for a notification in the answer to a query. Asks once, with a larger page if needed, and repeatedly if a service may index in real time even though its clock was
 * moved.
 */
export const findListed = async (
  world: Parameters<typeof untilListed>[0] & Pick<World, "target">,
  accessToken: string,
  query: ListRequest["query"],
  id: string,
): Promise<Listed> => {
  const ask = (limit: ListRequest["query"]): Promise<Answer> =>
    world.target.list({ accessToken, query: { ...query, ...limit } });
  let answer = await ask({});
  const itemIn = (): Item | undefined => itemWith(pageOf(answer)?.items ?? [], id);
  const isCut = (): boolean => {
    const page = pageOf(answer);
    return page !== undefined && typeof page.total === "number" && page.total > page.items.length;
  };
  if (itemIn() === undefined && isCut()) answer = await ask({ limit: String(LARGE_PAGE) });
  if (itemIn() === undefined && !isCut())
    await untilListed(world, async () => {
      answer = await ask({});
      return itemIn() !== undefined;
    });
  return { answer, item: itemIn(), isWhole: !isCut() };
};

const itemWith = (items: readonly Item[], id: string): Item | undefined =>
  items.find((one) => typeof one["id"] === "string" && one["id"].toLowerCase() === id.toLowerCase());
