import path from "node:path";
import { makeFolders } from "../../conformance/files/run-directory.ts";
import { type ClockMode, notBefore } from "../clock.ts";
import { openNotificationStore } from "../notifications.ts";
import { type DeliveryStore, forgetfulStore, openDeliveryStore } from "./store.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

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
