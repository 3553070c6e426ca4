import type { ListRequest } from "./target.ts";
import type { Prepared } from "./world.ts";

export type ListForm = NonNullable<ListRequest["query"]>;

/**
 * The forms of a list request: everything, one account, one notification, a page. They name known notifications, if
 * there are any.
 */
export const listForms = ({ notifications }: Pick<Prepared, "notifications">): readonly ListForm[] => {
  const { emptyAccountId } = notifications;
  const { accountId, ids } = notifications.accounts[0] ?? { accountId: emptyAccountId, ids: [] };
  const id = ids[0] ?? emptyAccountId;
  return [
    {},
    { accountId },
    { id },
    { limit: 1, page: 0 },
    { id, accountId },
    { accountId, limit: 2, page: 1 },
  ];
};
