import type { Answer, RefusalKind } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { Context, CodeRecord, AccessRecord } from "../context.ts";
import type { Query } from "../requests.ts";

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

/** `GET /open-api/v1/notifications` (section 4.4): one page of the matches, and their total. */
export const list = async (behaviour: Behaviour, query: Query, context: Context): Promise<Answer> => {
  const refuse = (kind: RefusalKind): Answer => behaviour.renderRefusal({ kind }, context);
  const viewer = viewerOf(behaviour, context);
  if (typeof viewer === "string") return refuse(viewer);
  const limit = behaviour.limitFor(query.values.get("limit"), context);
  const page = behaviour.pageFor(query.values.get("page"), context);
  if (limit === undefined || page === undefined) return refuse("paging-refused");

  const paging = { limit, page };
  const filters = behaviour.readFilters(query, context);
  const selection = { ...behaviour.matching(filters, viewer, context), orderBy: behaviour.order(context) };
  const matched = behaviour.countMatches(selection, context);
  if (!behaviour.servesPage(paging, matched, context)) return refuse("paging-refused");
  const offset = behaviour.offsetOf(paging, matched, context);
  const items = await behaviour.readItems(selection, offset, paging, context);
  const total = behaviour.total(matched, items, paging, context);
  const data = items.map((item) => behaviour.item(item, context));
  return behaviour.renderSuccess(behaviour.listFields(data, total, context), context);
};

/** The access token that admits the caller, or why the caller is refused (section 5.2). */
const viewerOf = (behaviour: Behaviour, context: Context): AccessRecord | RefusalKind => {
  const presented = behaviour.readAccessToken(context);
  if (presented === undefined) return "access-token-missing";
  const record = behaviour.findAccessToken(presented, context);
  if (record === undefined) return "access-token-unknown";
  return behaviour.accessTokenIsAlive(record, context) ? record : "access-token-expired";
};
