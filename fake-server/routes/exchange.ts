import type { Answer, RefusalKind } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { JsonObject } from "../body.ts";
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
