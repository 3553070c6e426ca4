import { SECOND_MS } from "../../conformance/contract/duration.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { Replaces } from "../behaviour.ts";
import { eachItsOwn, narrowed, showing } from "../changes.ts";
import type { Context, Grant, Service } from "../context.ts";
import { codeDefects } from "./code.ts";
import { exchangeDefects } from "./exchange.ts";
import { lifetimeDefects } from "./lifetimes.ts";
import { notificationDefects } from "./notifications.ts";
import { stateDefects } from "./state.ts";
import type { Selection } from "../notifications.ts";
import { parseQuery, rawQueryOf } from "../requests.ts";
import {
  afterwards,
  alsoIf,
  change,
  type Defect,
  given,
  joined,
  keeping,
  onlyWhen,
  type Replacement,
  rows,
  type Title,
  together,
} from "../registry.ts";
import { ACCESS_TOKEN_HEADER } from "../sound.ts";

const isSecond = (clientId: unknown, { clients }: Pick<Service, "clients">): boolean =>
  [...clients.keys()].indexOf(String(clientId)) === 1;

/** Whether a decision concerns the second client: by a record, the query, or the token of its request. */
const concernsSecond = (subject: readonly unknown[]): boolean => {
  const context = subject.at(-1) as Context;
  const { credentials, from } = context;
  const clientId =
    subject.map((one) => fieldOf(one, "clientId")).find((id) => id !== undefined) ??
    parseQuery(rawQueryOf(from.url ?? ""))?.values.get("clientId") ??
    credentials.accessTokens.get(String(from.headers[ACCESS_TOKEN_HEADER]))?.clientId;
  return isSecond(clientId, context);
};

/** What differs for the second client alone. */
const forSecondClient = (what: Replacement): Replaces => onlyWhen(concernsSecond, what);

const known = joined<Defect>([
  stateDefects,
  codeDefects,
  lifetimeDefects,
  exchangeDefects,
  notificationDefects,
]);

/** The defects of these names, for the second client alone. */
const ofSecondClient = (titled: Readonly<Record<Title, string>>): Readonly<Record<string, Defect>> =>
  joined(
    Object.entries(titled).map(([title, name]) => {
      const defect = known[name];
      if (defect?.breaks[0] === undefined) return {};
      return rows({ [defect.breaks[0]]: { [title]: forSecondClient(defect.replaces) } });
    }),
  );

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
export const lifecycleDefects = {
  ...ofSecondClient({
    "state-of-129-bytes-for-second-client: A state of the second client may have one byte more.":
      "state-of-129-at-most",
    "state-in-lower-case-for-second-client: The second client gets its state back in lower case.":
      "state-in-lower-case",
    "code-of-second-client-lives-longer: A code of the second client works for eleven minutes.":
      "code-lives-eleven-minutes",
    "code-of-second-client-reusable: A code of the second client can be exchanged again.": "code-reusable",
    "refresh-token-of-second-client-lives-longer: A refreshToken of the second client works for 31 days.":
      "refresh-token-lives-a-day-longer",
    "default-limit-20-for-second-client: Without limit, the second client gets 20 on a page.":
      "default-limit-20",
    "default-page-1-for-second-client: Without page, the second client gets the second page.":
      "default-page-1",
    "exchange-of-second-client-without-refresh-token: The second client gets no refreshToken.":
      "exchange-without-refresh-token",
  }),
  ...rows({
    "authorize.state-charset": {
      "state-unchecked-for-second-client: A state of the second client may have any characters.":
        forSecondClient(alsoIf("acceptsState", (state) => state !== undefined && state.length <= 128)),
    },
    "code.lifetime-is-not-extended": {
      "code-of-second-client-restarted-by-attempt: A refused attempt restarts the lifetime of the second client's code.":
        forSecondClient(
          afterwards("afterRefusedExchange", (record, kind, { nowMs }) => {
            if (record !== undefined && kind !== "code-expired") record.issuedAtMs = nowMs;
          }),
        ),
    },
    "code.unknown": {
      "code-of-second-client-by-beginning: A code of the second client is accepted with a suffix.": given(
        "findCode",
        (presented, context) => {
          const code = context.credentials.codes.get(String(presented).slice(0, 32));
          const isTaken = typeof presented === "string" && isSecond(code?.clientId, context);
          return [isTaken ? code?.code : presented, context];
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
    "refresh.unknown-client": {
      "refresh-for-second-client-without-client: A refresh without a clientId is treated as the second client's.":
        change("findClientToRefresh", (usual, clientId, clients) =>
          clientId === undefined ? [...clients.values()][1] : usual,
        ),
    },
    "access.lifetime": {
      "expires-in-of-second-client-in-milliseconds: The second client gets expiresIn in milliseconds.":
        forSecondClient(
          change("exchangeFields", (fields) => ({
            ...fields,
            expiresIn: Number(fields["expiresIn"]) * SECOND_MS,
          })),
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
  }),
};
