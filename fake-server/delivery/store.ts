import { DatabaseSync } from "node:sqlite";
import type { Callback, Delivery } from "../context.ts";
import path from "node:path";
import { makeFolders } from "../../conformance/files/run-directory.ts";
import { type ClockMode, notBefore } from "../clock.ts";
import { openNotificationStore } from "../notifications.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

/**
 * State that a service recovers after a restart. Every change is on disk when the call returns, however the process
 * ends.
 */
export interface DeliveryStore {
  readonly save: (delivery: Delivery) => void;
  readonly remove: (delivery: Delivery) => void;
  /** Unfinished deliveries, in the order of their events. */
  readonly pending: () => readonly Delivery[];
  readonly saveCallback: (callback: Callback | undefined) => void;
  readonly callback: () => Callback | undefined;
  readonly saveNow: (nowMs: number) => void;
  /** The latest time the service's clock showed. */
  readonly nowMs: () => number | undefined;
  /** How often a service was started on this store before. */
  readonly earlierStarts: number;
  readonly clear: () => void;
  readonly close: () => void;
}

/** For a service without a data directory: keeps nothing and costs nothing. */
export const forgetfulStore: DeliveryStore = {
  save: () => undefined,
  remove: () => undefined,
  pending: () => [],
  saveCallback: () => undefined,
  callback: () => undefined,
  saveNow: () => undefined,
  nowMs: () => undefined,
  earlierStarts: 0,
  clear: () => undefined,
  close: () => undefined,
};

/** A service locks its store: two services pushing the same notifications would push each twice. */
const SCHEMA = `
  PRAGMA locking_mode = EXCLUSIVE;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS deliveries (sequence INTEGER PRIMARY KEY, delivery TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);`;

/** Opens the store in an SQLite file, creating it if needed. */
export const openDeliveryStore = (file: string): DeliveryStore => {
  const database = new DatabaseSync(file);
  database.exec(SCHEMA);
  const put = database.prepare("INSERT OR REPLACE INTO deliveries (sequence, delivery) VALUES (?, ?)");
  const drop = database.prepare("DELETE FROM deliveries WHERE sequence = ?");
  const all = database.prepare("SELECT delivery FROM deliveries ORDER BY sequence");
  const putFact = database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)");
  const getFact = database.prepare("SELECT value FROM facts WHERE name = ?");

  const saveFact = (name: string, value: unknown): void => void putFact.run(name, JSON.stringify(value));
  const fact = (name: string): unknown => {
    const text = getFact.get(name)?.["value"];
    return typeof text === "string" ? JSON.parse(text) : undefined;
  };
  const earlierStarts = Number(fact("starts") ?? 0);
  saveFact("starts", earlierStarts + 1);

  return {
    earlierStarts,
    save: (delivery) => void put.run(delivery.sequence, JSON.stringify(delivery)),
    remove: ({ sequence }) => void drop.run(sequence),
    pending: () => all.all().map((row) => JSON.parse(String(row["delivery"])) as Delivery),
    saveCallback: (callback) => saveFact("callback", callback ?? null),
    callback: () => (fact("callback") ?? undefined) as Callback | undefined,
    saveNow: (nowMs) => saveFact("nowMs", nowMs),
    nowMs: () => fact("nowMs") as number | undefined,
    clear: () => {
      database.exec("DELETE FROM deliveries");
      saveFact("callback", null);
    },
    close: () => database.close(),
  };
};

/** State that outlives the process; without a directory there is none. Creates it if needed. Throws ConfigurationError. */
export const openData = (directory: string | undefined) => {
  const opened: { readonly close: () => void }[] = [];
  const close = (): void => {
    for (const one of opened.splice(0)) one.close();
  };
  const open = <S extends { readonly close: () => void }>(store: S): S => {
    opened.push(store);
    return store;
  };
  try {
    if (directory !== undefined) makeFolders(directory);
    const store: DeliveryStore =
      directory === undefined
        ? forgetfulStore
        : open(openDeliveryStore(path.join(directory, "deliveries.sqlite")));
    const notifications = open(
      openNotificationStore(
        directory === undefined ? undefined : path.join(directory, "notifications.sqlite"),
      ),
    );
    return { store, notifications, close, continuedMs: (mode: ClockMode) => continuedMs(store, mode) };
  } catch (error) {
    close();
    throw new ConfigurationError(`The data directory ${directory} cannot be used: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
};

/** Time continues where it stopped; a flowing clock also adds the time since, and never goes back. */
const continuedMs = (store: DeliveryStore, mode: ClockMode): number | undefined => {
  const leftAtMs = store.nowMs();
  return leftAtMs !== undefined && mode === "flowing" ? notBefore(leftAtMs) : leftAtMs;
};

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unreadable";
  return /locked/.test(error.message) ? "another service is using it" : error.message;
};
