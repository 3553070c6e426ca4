import type { ListRequest } from "./world/target.ts";
import type { World } from "./world/world.ts";

export type ListForm = NonNullable<ListRequest["query"]>;

/** Lists that are known to hold something: everything, one account, one notification, a page. */
export const listForms = ({ notifications }: Pick<World, "notifications">): readonly ListForm[] => {
  const account = notifications.accounts[0];
  const id = account?.ids[0];
  if (account === undefined || id === undefined) return [{}];
  const { accountId } = account;
  return [
    {},
    { accountId },
    { id },
    { limit: 1, page: 0 },
    { id, accountId },
    { accountId, limit: 2, page: 0 },
  ];
};
