import type { Answer, RefusalKind } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { JsonObject } from "../body.ts";
import type { Context } from "../context.ts";
import { issueAccessToken } from "./exchange.ts";

/** `POST /open-api/oauth/refresh-token` (section 4.3): a new access token; the refresh token stays valid. */
export const refresh = async (behaviour: Behaviour, body: JsonObject, context: Context): Promise<Answer> => {
  const record = behaviour.findRefreshToken(fieldOf(body, "refreshToken"), context);
  const client = behaviour.findClientToRefresh(fieldOf(body, "clientId"), context.clients);
  const refuse = (kind: RefusalKind): Answer => {
    behaviour.afterRefusedRefresh(record, kind, context);
    return behaviour.renderRefusal({ kind }, context);
  };
  if (client === undefined) return refuse("client-unknown");
  if (record === undefined) return refuse("refresh-token-unknown");
  if (!behaviour.refreshTokenBelongsTo(record, client)) return refuse("refresh-token-of-another-client");
  if (!behaviour.refreshTokenIsAlive(record, context)) return refuse("refresh-token-expired");
  if (!(await behaviour.takeRefreshToken(record, context))) return refuse("refresh-token-unknown");
  const previous = record.latestAccess;
  record.latestAccess = issueAccessToken(behaviour, client, record.grant, true, context);
  behaviour.afterRefresh(record, previous, context);
  const expiresIn = behaviour.expiresIn(record.latestAccess.lifetimeMs, context);
  const fields = behaviour.refreshFields(record, behaviour.timestamp(context), expiresIn, context);
  return behaviour.renderSuccess(fields, context);
};
