import { randomUUID } from "node:crypto";

/** The library has no notifications; these are the service's other half (sections 2.3 and 4.4). */
export interface Notifications {
  /** Creates one for the account and returns its id. */
  readonly create: (accountId: string) => string;
  /** One page, newest first; undefined if limit or page is invalid. */
  readonly list: (query: URLSearchParams) => { data: readonly unknown[]; total: number } | undefined;
}

const DEFAULT_LIMIT = "10";
const DEFAULT_PAGE = "0";

export const createNotifications = (): Notifications => {
  const all: Readonly<Record<string, string>>[] = [];
  return {
    create: (accountId) => {
      const id = randomUUID();
      const about = {
        businessType: "CreateGlobalAccount",
        businessStatus: "Passed",
        remark: "made by an event",
      };
      all.unshift({
        id,
        accountId,
        createTime: new Date().toISOString(),
        ...about,
        data: "",
        status: "unread",
      });
      return id;
    },
    list: (query) => {
      const limit = wholeNumber(query.get("limit") ?? DEFAULT_LIMIT);
      const page = wholeNumber(query.get("page") ?? DEFAULT_PAGE);
      if (limit === undefined || limit === 0 || page === undefined || !Number.isSafeInteger(limit * page))
        return undefined;
      const [id, accountId] = [query.get("id"), query.get("accountId")];
      const matching = all.filter(
        (one) => one["id"] === (id ?? one["id"]) && one["accountId"] === (accountId ?? one["accountId"]),
      );
      return { data: matching.slice(limit * page, limit * (page + 1)), total: matching.length };
    },
  };
};

const wholeNumber = (text: string): number | undefined =>
  /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
