import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { eachItsOwn, narrowed, showing } from "../changes.ts";
import type { Context, Grant, Service } from "../context.ts";
import { codes, refreshTokens } from "../credentials.ts";
import type { Selection } from "../notifications.ts";
import { afterwards, alsoIf, change, given, keeping, rows, together } from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound/tokens.ts";

const isSecond = (clientId: string | undefined, { clients }: Pick<Service, "clients">): boolean =>
  clientId !== undefined && [...clients.keys()].indexOf(clientId) === 1;

const isSecondsCode = (code: unknown, context: Context): boolean =>
  typeof code === "string" && isSecond(context.credentials.codes.get(code)?.clientId, context);

const viewerOf = ({ credentials, from }: Context): string | undefined =>
  credentials.accessTokens.get(String(from.headers[ACCESS_TOKEN_HEADER]))?.clientId;

const ofAllClients = ({ where, parameters, ...rest }: Selection): Selection => ({
  ...rest,
  where: where.replace(/ AND owner = \?$/, ""),
  parameters: parameters.slice(0, -1),
});

const MANY = 10_000;

/** Revokes the grants of a client but for this many of the newest. */
const endSessions = (clientId: string, { credentials }: Context, kept = 0): void => {
  const own = [...credentials.refreshTokens.values()].filter((token) => token.clientId === clientId);
  for (const { grant } of own.slice(0, own.length - kept)) grant.revoked = true;
};

/** Defects that concern only the second client, and transitions that work one by one but fail in certain orders. */
export const lifecycleDefects = rows({
  "authorize.state-charset": {
    "state-unchecked-for-second-client: A state of the second client may have any characters.": alsoIf(
      "acceptsState",
      (state, query, context) =>
        state !== undefined && state.length <= 128 && isSecond(query.values.get("clientId"), context),
    ),
  },
  "authorize.state-length": {
    "state-of-129-bytes-for-second-client: A state of the second client may have one byte more.": alsoIf(
      "acceptsState",
      (state, query, context) =>
        /^[a-zA-Z0-9]{129}$/.test(state ?? "") && isSecond(query.values.get("clientId"), context),
    ),
  },
  "authorize.echoes-state": {
    "state-in-lower-case-for-second-client: The second client gets its state back in lower case.": change(
      "authorizeFields",
      (fields, record, _timestamp, context) => ({
        ...fields,
        state: isSecond(record.clientId, context) ? record.state.toLowerCase() : record.state,
      }),
    ),
  },
  "code.lifetime": {
    "code-of-second-client-lives-longer: A code of the second client works for eleven minutes.":
      codes.areOlderBy(({ clientId }, context) => (isSecond(clientId, context) ? -MINUTE_MS : 0)),
  },
  "code.single-use": {
    "code-of-second-client-reusable: A code of the second client can be exchanged again.": (sound) => ({
      takeCode: (record, context) => isSecond(record.clientId, context) || sound.takeCode(record, context),
    }),
  },
  "code.lifetime-is-not-extended": {
    "code-of-second-client-restarted-by-attempt: A refused attempt restarts the lifetime of the second client's code.":
      afterwards("afterRefusedExchange", (record, kind, context) => {
        if (record !== undefined && kind !== "code-expired" && isSecond(record.clientId, context))
          record.issuedAtMs = context.nowMs;
      }),
  },
  "code.unknown": {
    "code-of-second-client-by-beginning: A code of the second client is accepted with a suffix.": given(
      "findCode",
      (presented, context) => {
        const beginning = typeof presented === "string" ? presented.slice(0, 32) : presented;
        return [isSecondsCode(beginning, context) ? beginning : presented, context];
      },
    ),
  },
  "exchange.authenticates-client": {
    "secret-of-second-client-but-for-its-end: The end of the second client's secret is ignored.": change(
      "authenticateClient",
      (usual, clientId, clientSecret, clients) => {
        const second = [...clients.values()][1];
        const isRight =
          typeof clientSecret === "string" &&
          clientSecret.length === second?.secret.length &&
          clientSecret.slice(0, -4) === second.secret.slice(0, -4);
        return clientId === second?.id && isRight ? second : usual;
      },
    ),
  },
  "refresh.lifetime": {
    "refresh-token-of-second-client-lives-longer: A refreshToken of the second client works for 31 days.":
      refreshTokens.areOlderBy(({ clientId }, context) => (isSecond(clientId, context) ? -DAY_MS : 0)),
  },
  "refresh.unknown-client": {
    "refresh-for-second-client-without-client: A refresh without a clientId is treated as the second client's.":
      change("findClientToRefresh", (usual, clientId, clients) =>
        clientId === undefined ? [...clients.values()][1] : usual,
      ),
  },
  "access.lifetime": {
    "expires-in-of-second-client-in-milliseconds: The second client gets expiresIn in milliseconds.": given(
      "exchangeFields",
      (tokens, timestamp, expiresIn, context) => [
        tokens,
        timestamp,
        isSecond(tokens.clientId, context) ? Number(expiresIn) * SECOND_MS : expiresIn,
        context,
      ],
    ),
  },
  "notifications.shape": {
    "item-of-second-client-without-account: accountId is null in notifications of the second client.":
      keeping((owned = new Set<string>()) =>
        together(
          afterwards("keepNotification", ({ id }, owner, service) => {
            if (isSecond(owner, service)) owned.add(id);
          }),
          showing(({ id }) => (owned.has(id) ? { accountId: null } : {})),
        ),
      ),
  },
  "notifications.default-limit": {
    "default-limit-20-for-second-client: Without limit, the second client gets 20 on a page.": change(
      "limitFor",
      (usual, asked, context) => (asked === undefined && isSecond(viewerOf(context), context) ? 20 : usual),
    ),
  },
  "notifications.default-page": {
    "default-page-1-for-second-client: Without page, the second client gets the second page.": change(
      "pageFor",
      (usual, asked, context) => (asked === undefined && isSecond(viewerOf(context), context) ? 1 : usual),
    ),
  },
  "notifications.total": {
    "total-with-those-of-second-client: A client sees only its own notifications, but total counts those of all clients.":
      together(
        eachItsOwn,
        given("countMatches", (selection, context) => [ofAllClients(selection), context]),
      ),
  },
  "notifications.limit": {
    "page-cut-before-those-of-second-client-are-left-out: A page is cut from the notifications of all clients; then those of others are left out.":
      (sound) => ({
        ...eachItsOwn(sound),
        readItems: async (selection, offset, paging, context) => {
          const own = await sound.readItems(selection, 0, { limit: MANY, page: 0 }, context);
          const ids = new Set(own.map(({ id }) => id));
          const page = await sound.readItems(ofAllClients(selection), offset, paging, context);
          return page.filter(({ id }) => ids.has(id));
        },
      }),
  },
  "exchange.token-set": {
    "exchange-of-second-client-without-refresh-token: The second client gets no refreshToken.": change(
      "exchangeFields",
      (fields, { clientId }, _timestamp, _expiresIn, context) =>
        isSecond(clientId, context) ? { ...fields, refreshToken: undefined } : fields,
    ),
  },
  "lifecycle.model": {
    "lifecycle-one-session-per-client: A new exchange revokes the client's earlier tokens.": afterwards(
      "afterExchange",
      ({ clientId }, _tokens, context) => endSessions(clientId, context, 1),
    ),
    "lifecycle-authorize-ends-sessions: A new authorization revokes all tokens of the client.": afterwards(
      "keepCode",
      ({ clientId }, context) => endSessions(clientId, context),
    ),
    "lifecycle-expired-code-ends-sessions: Trying an expired code revokes all tokens of the client.":
      afterwards("afterRefusedExchange", (record, kind, context) => {
        if (record !== undefined && kind === "code-expired") endSessions(record.clientId, context);
      }),
    "lifecycle-refresh-revives-expired-tokens: A refresh renews every accessToken of its grant.": {
      afterRefresh: (record, _previous, { credentials, nowMs }) => {
        for (const access of credentials.accessTokens.values())
          if (access.grant === record.grant) access.issuedAtMs = nowMs;
      },
    },
    "lifecycle-exchange-after-refresh-kills-refresh-token: An exchange after a refresh revokes the refreshToken.":
      afterwards("afterExchange", (record, tokens, context) => {
        for (const other of context.credentials.refreshTokens.values())
          if (other !== tokens && other.clientId === record.clientId && other.latestAccess.refreshed)
            other.revoked = true;
      }),
    "lifecycle-one-session-per-state: An authorization revokes all tokens that came of the same state.":
      keeping((states = new WeakMap<Grant, string>()) =>
        together(
          afterwards("keepCode", ({ state }, { credentials }) => {
            for (const { grant } of credentials.refreshTokens.values())
              if (states.get(grant) === state) grant.revoked = true;
          }),
          afterwards("afterExchange", ({ state }, { grant }) => void states.set(grant, state)),
        ),
      ),
    "lifecycle-refresh-revives-codes: A refresh renews every code.": afterwards(
      "afterRefresh",
      (_record, _previous, { credentials, nowMs }) => {
        for (const code of credentials.codes.values()) code.issuedAtMs = nowMs;
      },
    ),
    "lifecycle-authorize-ends-tokens-of-others: An authorization revokes other clients' accessTokens.":
      afterwards("keepCode", ({ clientId }, { credentials }) => {
        for (const token of credentials.accessTokens.values())
          if (token.clientId !== clientId) token.revoked = true;
      }),
    "lifecycle-totals-doubled: total is twice the number of matches.": change(
      "total",
      (total) => Number(total) * 2,
    ),
    "lifecycle-refresh-hides-newest-notification: A refreshed grant does not see the newest notification.":
      change("matching", (usual, _filters, { refreshed }) => {
        const { where, parameters } = usual;
        const beforeNewest = `sequence < (SELECT max(sequence) FROM notifications WHERE ${where})`;
        return refreshed ? narrowed({ ...usual, where: `(${where})` }, beforeNewest, ...parameters) : usual;
      }),
    "lifecycle-refresh-loses-notifications: After an odd number of refreshes no notification is stored.": (
      sound,
      refreshes = 0,
    ) => ({
      afterRefresh: (...subject) => {
        refreshes += 1;
        sound.afterRefresh(...subject);
      },
      keepNotification: (...subject) => {
        if (refreshes % 2 === 0) sound.keepNotification(...subject);
      },
    }),
  },
});
