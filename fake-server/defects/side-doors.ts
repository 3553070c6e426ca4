import type { Context } from "../context.ts";
import { afterwards, alsoIf, decisions, type Replacement, rows } from "../registry.ts";
import { asksFor, stranger } from "./tools.ts";

/** Serves the list under another path as well, where no token is asked for. */
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

/** Ways in beside the one that is guarded (sections 1, 2.2 and 5.2). */
export const sideDoorDefects = rows({
  "access.required": {
    "access-open-with-a-slash-behind: With a slash behind the path no token is asked for.": servedAlsoAt(
      "/open-api/v1/notifications/",
    ),
    "access-open-for-one-by-id: Below the path of the list, notifications are given out to everyone.":
      servedAlsoAt("/open-api/v1/notifications/:id", (asked) => /notifications\/./.test(asked)),
    "access-open-without-version: The path without its version serves the list to everyone.":
      servedAlsoAt("/open-api/notifications"),
    "access-open-in-capitals: In capitals the path serves the list to everyone.": servedAlsoAt(
      "/OPEN-API/V1/NOTIFICATIONS",
    ),
  },
  "access.lifetime": {
    "access-tokens-four-at-a-time: A client has four access tokens at most; a further one ends the oldest.":
      afterwards("keepAccessToken", (record, context) => {
        const own = [...context.credentials.accessTokens.values()].filter(
          ({ clientId }) => clientId === record.clientId,
        );
        for (const { token } of own.slice(0, -4)) context.credentials.accessTokens.delete(token);
      }),
    "access-expired-reads-by-id: An access token that has expired still reads notifications by their id.":
      alsoIf("accessTokenIsAlive", (_record, context) => asksFor("id", context)),
  },
});
