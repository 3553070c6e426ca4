import { loadNotificationDefects } from "./load-notifications.ts";
import { loadPushDefects } from "./load-push.ts";
import { loadRefreshDefects } from "./load-refresh.ts";
import { loadTokenDefects } from "./load-tokens.ts";
import { joined, type LoadDefect } from "../registry.ts";

/** Defects that only load shows. They are separate because sequential rules are not expected to detect them. */
export const loadDefects = joined<LoadDefect>([
  loadTokenDefects,
  loadRefreshDefects,
  loadNotificationDefects,
  loadPushDefects,
]);
