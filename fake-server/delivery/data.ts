import path from "node:path";
import { makeFolders } from "../../conformance/files/run-directory.ts";
import { type ClockMode, notBefore } from "../clock.ts";
import { type NotificationStore, openNotificationStore } from "../notifications.ts";
import { type DeliveryStore, forgetfulStore, openDeliveryStore } from "./store.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

/** State that outlives the process. */
export interface Data {
  readonly store: DeliveryStore;
  /** Notifications in the directory; undefined without one. */
  readonly notifications: NotificationStore | undefined;
  /** The time at which the clock continues; undefined for a new clock. */
  readonly continuedMs: (mode: ClockMode) => number | undefined;
  readonly close: () => void;
}

const nothing: Data = {
  store: forgetfulStore,
  notifications: undefined,
  continuedMs: () => undefined,
  close: () => undefined,
};

/** Opens a data directory, creating it if needed. Throws ConfigurationError. */
export const openData = (directory: string | undefined): Data => {
  if (directory === undefined) return nothing;
  const opened: { readonly close: () => void }[] = [];
  const close = (): void => {
    for (const one of opened.splice(0)) one.close();
  };
  try {
    makeFolders(directory);
    const store = openDeliveryStore(path.join(directory, "deliveries.sqlite"));
    opened.push(store);
    const notifications = openNotificationStore(path.join(directory, "notifications.sqlite"));
    return { store, notifications, close, continuedMs: (mode) => continuedMs(store, mode) };
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
