import type { Answer, RefusalKind } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { JsonObject } from "../requests.ts";
import type { FakeClient } from "../clients.ts";
import type { Context, AccessRecord, CodeRecord, Grant, RefreshRecord } from "../context.ts";

/** `POST /open-api/oauth/access-token` (section 4.2): uses up a code for a token set. */
export const exchange = async (behaviour: Behaviour, body: JsonObject, context: Context): Promise<Answer> => {
  const record = behaviour.findCode(fieldOf(body, "code"), context);
  const client = behaviour.authenticateClient(
    fieldOf(body, "clientId"),
    fieldOf(body, "clientSecret"),
    context.clients,
  );
  const refuse = (kind: RefusalKind): Answer => {
    behaviour.afterRefusedExchange(record, kind, context);
    return behaviour.renderRefusal({ kind }, context);
  };
  if (client === undefined) return refuse("client-unauthenticated");
  if (record === undefined) return refuse("code-unknown");
  if (!behaviour.codeBelongsTo(record, client)) return refuse("code-of-another-client");
  if (!behaviour.codeIsAlive(record, context)) return refuse("code-expired");
  if (!(await behaviour.takeCode(record, context))) return refuse("code-used");
  const tokens = issueTokens(behaviour, client, record, context);
  behaviour.afterExchange(record, tokens, context);
  const expiresIn = behaviour.expiresIn(tokens.latestAccess.lifetimeMs, context);
  const fields = behaviour.exchangeFields(tokens, behaviour.timestamp(context), expiresIn, context);
  return behaviour.renderSuccess(fields, context);
};

const issueTokens = (
  behaviour: Behaviour,
  client: FakeClient,
  code: CodeRecord,
  context: Context,
): RefreshRecord => {
  const grant: Grant = { clientId: client.id, revoked: false };
  const latestAccess = issueAccessToken(behaviour, client, grant, false, context);
  const tokens: RefreshRecord = {
    token: behaviour.mintRefreshToken(client, context),
    clientId: client.id,
    grant,
    issuedAtMs: context.nowMs,
    revoked: false,
    latestAccess,
  };
  behaviour.keepRefreshToken(tokens, context);
  code.grant = grant;
  return tokens;
};

/** Creates and stores an access token. */
export const issueAccessToken = (
  behaviour: Behaviour,
  client: FakeClient,
  grant: Grant,
  refreshed: boolean,
  context: Context,
): AccessRecord => {
  const lifetimeMs = behaviour.accessTokenLifetimeMs(client, context);
  const record: AccessRecord = {
    token: behaviour.mintAccessToken(client, lifetimeMs, context),
    clientId: client.id,
    grant,
    lifetimeMs,
    refreshed,
    issuedAtMs: context.nowMs,
    revoked: false,
  };
  behaviour.keepAccessToken(record, context);
  return record;
};

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
