import type { Context } from "../context.ts";
import { afterwards, alsoIf, decisions, type Replacement, rows } from "../registry.ts";
import { asksFor, stranger } from "./tools.ts";

/** Serves the list under another path as well, without requiring a token. */
const servedAlsoAt = (
  path: string,
  matches: (asked: string) => boolean = (asked) => asked === path,
): Replacement =>
  decisions((sound) => {
    const isThere = ({ from }: Context): boolean => matches(from.url?.split("?")[0] ?? "");
    return {
      pathsOf: (operation) => [...sound.pathsOf(operation), ...(operation === "list" ? [path] : [])],
      readAccessToken: (context) => (isThere(context) ? "" : sound.readAccessToken(context)),
      findAccessToken: (presented, context) =>
        isThere(context) ? stranger(context) : sound.findAccessToken(presented, context),
    };
  });

/** Unprotected routes beside the protected one (sections 1, 2.2 and 5.2). */
export const sideDoorDefects = rows({
  "access.required": {
    "access-open-with-a-slash-behind: With a trailing slash, the path needs no token.": servedAlsoAt(
      "/open-api/v1/notifications/",
    ),
    "access-open-for-one-by-id: The path of a single notification, below the list, is open to everyone.":
      servedAlsoAt("/open-api/v1/notifications/:id", (asked) => /notifications\/./.test(asked)),
    "access-open-without-version: The path without its version serves the list to everyone.":
      servedAlsoAt("/open-api/notifications"),
    "access-open-in-capitals: The path in upper case serves the list to everyone.": servedAlsoAt(
      "/OPEN-API/V1/NOTIFICATIONS",
    ),
  },
  "access.lifetime": {
    "access-tokens-four-at-a-time: A client has at most four access tokens; a new one invalidates the oldest.":
      afterwards("keepAccessToken", (record, context) => {
        const own = [...context.credentials.accessTokens.values()].filter(
          ({ clientId }) => clientId === record.clientId,
        );
        for (const { token } of own.slice(0, -4)) context.credentials.accessTokens.delete(token);
      }),
    "access-expired-reads-by-id: An expired access token still reads notifications by id.": alsoIf(
      "accessTokenIsAlive",
      (_record, context) => asksFor("id", context),
    ),
  },
});
