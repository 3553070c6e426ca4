import type { EventDecisions, ListDecisions } from "../behaviour.ts";
import { EVERYTHING } from "../notifications.ts";

const WHOLE_NUMBER = /^\d+$/;

/** The whole number that a parameter stands for, or undefined if it is not one; huge values become the maximum. */
export const wholeNumber = (text: string): number | undefined =>
  WHOLE_NUMBER.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;

export const soundList: ListDecisions = {
  readFilters: ({ values }) => ({ id: values.get("id"), accountId: values.get("accountId") }),
  limitFor: (asked, { limits }) => {
    if (asked === undefined) return limits.defaultLimit;
    const limit = wholeNumber(asked);
    return limit !== undefined && limit >= 1 && limit <= limits.maximumLimit ? limit : undefined;
  },
  pageFor: (asked, { limits }) => (asked === undefined ? limits.defaultPage : wholeNumber(asked)),
  matching: ({ id, accountId }) => {
    if (id !== undefined && accountId !== undefined) {
      return { where: "id = ? AND accountId = ?", parameters: [id, accountId] };
    }
    if (id !== undefined) return { where: "id = ?", parameters: [id] };
    if (accountId !== undefined) return { where: "accountId = ?", parameters: [accountId] };
    return { where: EVERYTHING, parameters: [] };
  },
  order: () => "sequence",
  offsetOf: ({ limit, page }) => Math.min(limit * page, Number.MAX_SAFE_INTEGER),
  countMatches: (selection, { notifications }) => notifications.count(selection),
  readItems: (selection, offset, { limit }, { notifications }) =>
    notifications.read(selection, offset, limit),
  servesPage: () => true,
  total: (matched) => matched,
  item: (notification) => notification,
  listFields: (data, total) => ({ data, total }),
};

export const soundEvents: EventDecisions = {
  mintNotificationId: (random) => random.uuid(),
  createTime: (nowMs) => new Date(nowMs).toISOString(),
  ownerOf: (clientId) => clientId ?? "",
  visibilityDelayMs: () => 0,
  keepNotification: (notification, owner, { notifications }) => notifications.add({ ...notification, owner }),
};
