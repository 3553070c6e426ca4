import type { Behaviour } from "../behaviour.ts";
import type { Context } from "../context.ts";
import type { AccessRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";

/** A viewer whom nobody asked for a token. */
const stranger = ({ nowMs }: Context): AccessRecord => ({
  token: "",
  clientId: "",
  grant: { clientId: "", revoked: false },
  lifetimeMs: Infinity,
  refreshed: false,
  issuedAtMs: nowMs,
  revoked: false,
});

/** Serves the list under another path as well, where no token is asked for. */
const servedAlsoAt =
  (path: string) =>
  (sound: Behaviour): Pick<Behaviour, "pathsOf" | "readAccessToken" | "findAccessToken"> => {
    const isThere = ({ from }: Context): boolean => from.url?.split("?")[0] === path;
    return {
      pathsOf: (operation) => [...sound.pathsOf(operation), ...(operation === "list" ? [path] : [])],
      readAccessToken: (context) => (isThere(context) ? "" : sound.readAccessToken(context)),
      findAccessToken: (presented, context) =>
        isThere(context) ? stranger(context) : sound.findAccessToken(presented, context),
    };
  };

/** Ways in beside the one that is guarded (sections 1, 2.2 and 5.2). */
export const sideDoorDefects = {
  "access-open-with-a-slash-behind": defect(
    "With a slash behind the path no token is asked for.",
    ["access.required"],
    servedAlsoAt("/open-api/v1/notifications/"),
  ),
  "access-open-without-version": defect(
    "The path without its version serves the list to everyone.",
    ["access.required"],
    servedAlsoAt("/open-api/notifications"),
  ),
  "access-open-in-capitals": defect(
    "In capitals the path serves the list to everyone.",
    ["access.required"],
    servedAlsoAt("/OPEN-API/V1/NOTIFICATIONS"),
  ),
  "access-expired-reads-by-id": defect(
    "An access token that has expired still reads notifications by their id.",
    ["access.lifetime"],
    (sound) => ({
      accessTokenIsAlive: (record, context) =>
        sound.accessTokenIsAlive(record, context) || /[?&]id=/.test(context.from.url ?? ""),
    }),
  ),
  "access-tokens-four-at-a-time": defect(
    "A client has four access tokens at most; a further one ends the oldest.",
    ["access.required", "access.lifetime"],
    (sound) => ({
      keepAccessToken: (record, context) => {
        sound.keepAccessToken(record, context);
        const own = [...context.credentials.accessTokens.values()].filter(
          ({ clientId }) => clientId === record.clientId,
        );
        for (const { token } of own.slice(0, -4)) context.credentials.accessTokens.delete(token);
      },
    }),
  ),
} satisfies Record<string, Defect>;
