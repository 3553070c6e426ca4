import type { Behaviour } from "./behaviour.ts";
import type { Operation } from "./context.ts";
import { soundAuthorize, soundCode } from "./sound/authorize.ts";
import { soundDelivery } from "./sound/delivery.ts";
import { soundHttp } from "./sound/http.ts";
import { soundEvents, soundList } from "./sound/notifications.ts";
import { soundTokens } from "./sound/tokens.ts";

/** The documented paths (section 4): only the list carries a version (section 9). */
export const PATHS: Readonly<Record<Operation, string>> = {
  authorize: "/open-api/oauth/authorize",
  exchange: "/open-api/oauth/access-token",
  refresh: "/open-api/oauth/refresh-token",
  list: "/open-api/v1/notifications",
};

/** The service that keeps every promise of the document, and where the document is silent follows the standards. */
export const sound: Behaviour = {
  ...soundHttp,
  ...soundAuthorize,
  ...soundCode,
  ...soundTokens,
  ...soundList,
  ...soundEvents,
  ...soundDelivery,
  pathsOf: (operation) => [PATHS[operation]],
};
