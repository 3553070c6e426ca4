import type { Answer } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { Context, CodeRecord } from "../context.ts";
import type { Query } from "../query.ts";

/** `GET /open-api/oauth/authorize` (section 4.1): a code for a client, a state and a redirectUri. */
export const authorize = (behaviour: Behaviour, query: Query, context: Context): Answer => {
  const { values } = query;
  const client = behaviour.findClientToAuthorize(values.get("clientId"), context.clients);
  if (client === undefined) return behaviour.renderRefusal({ kind: "client-unknown" }, context);
  const redirectUri = values.get("redirectUri");
  if (!behaviour.acceptsRedirectUri(redirectUri, client, query)) {
    return behaviour.renderRefusal({ kind: "redirect-uri-refused" }, context);
  }
  const state = values.get("state");
  if (!behaviour.acceptsState(state, query, context)) {
    return behaviour.renderRefusal({ kind: "state-refused" }, context);
  }
  const record: CodeRecord = {
    code: behaviour.mintCode(client, state ?? "", context),
    clientId: client.id,
    state: state ?? "",
    issuedAtMs: context.nowMs,
    usedAtMs: undefined,
    grant: undefined,
  };
  behaviour.keepCode(record, context);
  const fields = behaviour.authorizeFields(record, behaviour.timestamp(context), context);
  return behaviour.renderAuthorized(fields, redirectUri ?? client.redirectUri, context);
};
