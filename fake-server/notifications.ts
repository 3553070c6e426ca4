import { DatabaseSync, type StatementSync } from "node:sqlite";

/** A notification as in section 2.3. */
export interface Notification {
  readonly id: string;
  readonly accountId: string;
  /** ISO 8601, UTC, with milliseconds. */
  readonly createTime: string;
  readonly businessType: string;
  readonly businessStatus: string;
  readonly remark: string;
  readonly data: string;
  readonly status: string;
}

/** A stored notification: the visible fields, and the client it was created for. */
export type StoredNotification = Notification & { readonly owner: string };

/**
 * Which notifications in which order: SQL over the columns `sequence` (order of creation), `owner` and the fields of
 * Notification, with separate parameters.
 */
export interface Selection {
  readonly where: string;
  readonly parameters: readonly string[];
  readonly orderBy: string;
}

export type NotificationStore = ReturnType<typeof openNotificationStore>;

const SHOWN = [
  "id",
  "accountId",
  "createTime",
  "businessType",
  "businessStatus",
  "remark",
  "data",
  "status",
] as const;
const FIELDS = [...SHOWN, "owner"] as const;
const COLUMNS = SHOWN.join(", ");
/** The condition that is always true. */
export const EVERYTHING = "TRUE";
export const everything: Selection = { where: EVERYTHING, parameters: [], orderBy: "sequence" };
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS notifications (
    sequence INTEGER PRIMARY KEY, id TEXT NOT NULL, accountId TEXT NOT NULL, createTime TEXT NOT NULL,
    businessType TEXT NOT NULL, businessStatus TEXT NOT NULL, remark TEXT NOT NULL, data TEXT NOT NULL,
    status TEXT NOT NULL, owner TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS notifications_by_id ON notifications (id);
  CREATE INDEX IF NOT EXISTS notifications_by_account ON notifications (accountId, sequence);`;
/**
 * Answers are cached until the next write; at most this many, so that reading millions of pages does not fill the
 * memory.
 */
const KEPT_ANSWERS = 512;

/**
 * Notifications in SQLite (`file` is a path, or `:memory:`). Reads between two writes are cached, so that a load of
 * equal reads measures the service rather than the database.
 */
export const openNotificationStore = (file = ":memory:") => {
  const database = new DatabaseSync(file);
  // In a file, each write survives the process immediately, and the machine soon after.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
  database.exec(SCHEMA);
  const statements = new Map<string, StatementSync>();
  const counts = new Map<string, number>();
  const pages = new Map<string, readonly Notification[]>();
  // Counting all rows is slow for many rows, and unfiltered lists need the count after every write.
  let size = Number(database.prepare("SELECT count(*) AS n FROM notifications").get()?.["n"]);
  const insert = database.prepare(
    `INSERT INTO notifications (${FIELDS.join(", ")}) VALUES (${FIELDS.map(() => "?").join(", ")})`,
  );

  const prepared = (sql: string): StatementSync =>
    statements.get(sql) ?? keep(statements, sql, database.prepare(sql));
  const forget = (): void => {
    counts.clear();
    pages.clear();
  };
  const count = (selection: Selection): number => {
    if (selection.where === EVERYTHING) return size;
    const key = keyOf(selection);
    const known = counts.get(key);
    if (known !== undefined) return known;
    const row = prepared(`SELECT count(*) AS n FROM notifications WHERE ${selection.where}`).get(
      ...selection.parameters,
    );
    return keep(counts, key, Number(row?.["n"]));
  };

  const read = (selection: Selection, offset: number, limit: number): readonly Notification[] => {
    const key = `${keyOf(selection)}\n${selection.orderBy}\n${offset}\n${limit}`;
    const known = pages.get(key);
    if (known !== undefined) return known;
    const sql = `SELECT ${COLUMNS} FROM notifications WHERE ${selection.where} ORDER BY ${selection.orderBy} LIMIT ? OFFSET ?`;
    return keep(pages, key, pageOf(prepared(sql), [...selection.parameters, limit, offset]));
  };

  return {
    count,
    read,
    add: (notification: StoredNotification): void => {
      insert.run(...FIELDS.map((field) => notification[field]));
      size += 1;
      forget();
    },
    clear: (): void => {
      database.exec("DELETE FROM notifications");
      size = 0;
      forget();
    },
    close: (): void => database.close(),
  };
};

/** The statement's own objects have no prototype, and are slow to copy and to write as JSON: twice the time of a page. */
const pageOf = (
  statement: StatementSync,
  parameters: readonly (string | number)[],
): readonly Notification[] => {
  statement.setReturnArrays(true);
  const rows = statement.all(...parameters) as unknown as readonly unknown[][];
  return rows.map((row) => {
    const shown: Record<string, unknown> = {};
    for (let at = 0; at < SHOWN.length; at += 1) shown[SHOWN[at] as string] = row[at];
    return shown as unknown as Notification;
  });
};

const keyOf = ({ where, parameters }: Selection): string =>
  parameters.length === 0 ? where : `${where}\n${JSON.stringify(parameters)}`;

const keep = <V>(kept: Map<string, V>, key: string, value: V): V => {
  if (kept.size >= KEPT_ANSWERS) kept.clear();
  kept.set(key, value);
  return value;
};
