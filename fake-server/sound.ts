import type { Behaviour } from "./behaviour.ts";
import { soundAuthorize, soundCode } from "./sound/authorize.ts";
import { soundDelivery } from "./sound/delivery.ts";
import { soundHttp } from "./sound/http.ts";
import { soundEvents, soundList } from "./sound/notifications.ts";
import { soundTokens } from "./sound/tokens.ts";
import { endpoints } from "../conformance/contract/forms.ts";

/** The service that keeps every promise of the document, and follows the standards where the document is silent. */
export const sound: Behaviour = {
  ...soundHttp,
  ...soundAuthorize,
  ...soundCode,
  ...soundTokens,
  ...soundList,
  ...soundEvents,
  ...soundDelivery,
  pathsOf: (operation) => [endpoints[operation].path],
};
