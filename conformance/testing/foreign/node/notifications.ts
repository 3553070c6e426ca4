import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";

/** The library has no notifications; this table of them is the service's other half (sections 2.3 and 4.4). */
export interface Notifications {
  /** Creates one for the account and returns its id. */
  readonly create: (accountId: string) => string;
  /** One page, newest first; undefined if limit or page is invalid. */
  readonly list: (query: URLSearchParams) => { data: readonly unknown[]; total: number } | undefined;
}

const DEFAULT_LIMIT = "10";
const DEFAULT_PAGE = "0";

export const createNotifications = (store: DatabaseSync): Notifications => {
  const insert = store.prepare(`
    INSERT INTO notifications
      (id, account_id, create_time, business_type, business_status, remark, data, status)
      VALUES (?, ?, ?, 'CreateGlobalAccount', 'Passed', 'made by an event', '', 'unread')`);
  const matching = "FROM notifications WHERE (?1 IS NULL OR id = ?1) AND (?2 IS NULL OR account_id = ?2)";
  const count = store.prepare(`SELECT count(*) AS total ${matching}`);
  const select = store.prepare(`
    SELECT id, account_id AS accountId, create_time AS createTime, business_type AS businessType,
      business_status AS businessStatus, remark, data, status
    ${matching} ORDER BY sequence DESC LIMIT ?3 OFFSET ?4`);
  return {
    create: (accountId) => {
      const id = randomUUID();
      insert.run(id, accountId, new Date().toISOString());
      return id;
    },
    list: (query) => {
      const limit = wholeNumber(query.get("limit") ?? DEFAULT_LIMIT);
      const page = wholeNumber(query.get("page") ?? DEFAULT_PAGE);
      if (limit === undefined || limit === 0 || page === undefined || !Number.isSafeInteger(limit * page))
        return undefined;
      const filters = [query.get("id"), query.get("accountId")] as const;
      return {
        data: select.all(...filters, limit, limit * page),
        total: Number(count.get(...filters)?.["total"]),
      };
    },
  };
};

const wholeNumber = (text: string): number | undefined =>
  /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
