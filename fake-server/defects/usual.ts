import { SECOND_MS } from "../../conformance/contract/duration.ts";
import { type Answer, jsonAnswer, withHeaders } from "../answer.ts";
import { stranger } from "../changes.ts";
import type { Replaces } from "../behaviour.ts";
import { isObject, parseJson } from "../../conformance/contract/json.ts";
import type { Context, Operation } from "../context.ts";
import { change, keeping, type Replacement, rows, together } from "../registry.ts";

/** Final changes to answers, of which none waits. */
const finishing = (changed: (answer: Answer, context: Context) => Answer): Replaces =>
  change("finish", async (answer, _before, context) => changed(await answer, context));

const cookieIn = (name: string, { from }: Context): string | undefined =>
  new RegExp(`${name}=([^;]*)`).exec(from.headers.cookie ?? "")?.[1];

/** Sessions that granted requests of an operation open; a cookie tells which requests belong to one. */
const newSessions = (openedBy: Operation) => {
  const open = new Set<string>();
  return {
    isOpen: (context: Context): boolean => open.has(cookieIn("session", context) ?? ""),
    opening: finishing((answer, { operation, random }) => {
      if (answer.status >= 400 || operation !== openedBy) return answer;
      const id = `s${random.uint32()}`;
      open.add(id);
      return withHeaders(answer, { "set-cookie": `session=${id}; Path=/; HttpOnly` });
    }),
  };
};

/** Whoever is in a session that this operation opened needs no accessToken. */
const admittingSessionsOf = (operation: Operation): Replaces =>
  keeping((sessions = newSessions(operation)) => (sound) => ({
    ...together(sessions.opening)(sound),
    readAccessToken: (context) => sound.readAccessToken(context) ?? "",
    findAccessToken: (presented, context) =>
      sessions.isOpen(context) ? stranger(context) : sound.findAccessToken(presented, context),
  }));

/** In a session that an exchange has opened, bodies are completed in some way. */
const completing = (
  completed: (body: Readonly<Record<string, unknown>>, context: Context) => object,
): Replaces =>
  keeping((sessions = newSessions("exchange")) =>
    together(
      sessions.opening,
      change("readBody", (body, _raw, context) =>
        body !== undefined && sessions.isOpen(context) ? { ...body, ...completed(body, context) } : body,
      ),
    ),
  );

const acceptsGzip = ({ from }: Context): boolean =>
  from.headers["accept-encoding"]?.toString().includes("gzip") === true;

/** What a cache in front of the list keeps by address, and what it makes of that for later requests. */
const caching = <Kept>(
  keeps: (answer: Answer, context: Context) => Kept | undefined,
  answers: (kept: Kept, context: Context) => Answer | undefined,
): Replacement =>
  keeping((cache = new Map<string, Kept>()) =>
    finishing((answer, context) => {
      const address = context.from.url ?? "";
      const kept = cache.get(address);
      const cached = kept === undefined ? undefined : answers(kept, context);
      const fresh = cached === undefined ? keeps(answer, context) : undefined;
      if (fresh !== undefined) cache.set(address, fresh);
      return cached ?? answer;
    }),
  );

const servedList = (answer: Answer, { operation }: Context): Answer | undefined =>
  operation === "list" && answer.status === 200 ? answer : undefined;

const CACHED_MS = 2 * SECOND_MS;

/** Defects that show to clients that send cookies back or accept compressed answers, or behind a cache. */
export const usualClientDefects = rows({
  "access.required access.lifetime": {
    "access-by-session-of-list: The list sets a session cookie, which alone opens the list from then on.":
      admittingSessionsOf("list"),
  },
  "access.required": {
    "access-by-session-of-exchange: An exchange sets a session cookie, which opens the list without a token.":
      admittingSessionsOf("exchange"),
    "access-cached-for-other-methods: A cache returns the last list for the same address to every method but GET.":
      caching(servedList, (list, { from }) => (from.method === "GET" ? undefined : list)),
    "access-cached-when-compressed: A cache keeps compressed lists, and returns them to everyone who accepts gzip.":
      caching(
        (answer, context) => (acceptsGzip(context) ? servedList(answer, context) : undefined),
        (list, context) => (acceptsGzip(context) ? { ...list, compressed: true } : undefined),
      ),
    "access-refusal-cached-by-address: A refusal of a token is cached for two seconds, and given to valid tokens at the same address.":
      caching(
        ({ status }, { operation, clock }) =>
          operation === "list" && status === 401 ? clock.realMs() : undefined,
        (keptMs, { clock }) =>
          clock.realMs() - keptMs < CACHED_MS
            ? jsonAnswer(401, { error: "access-token-unknown" })
            : undefined,
      ),
  },
  "exchange.authenticates-client": {
    "secret-not-needed-in-session: In the session that an exchange opened, any secret is right.": completing(
      ({ clientId }, { clients }) => ({ clientSecret: clients.get(String(clientId))?.secret }),
    ),
  },
  "authorize.echoes-state": {
    "authorize-state-of-session: All authorizations of a session are answered with the state of the first.":
      together(
        change("authorizeFields", (fields, _record, _timestamp, context) => ({
          ...fields,
          state: cookieIn("state", context) ?? fields["state"],
        })),
        finishing((answer, { operation }) => {
          const fields = parseJson(answer.body);
          return operation === "authorize" && isObject(fields)
            ? withHeaders(answer, { "set-cookie": `state=${String(fields["state"])}; HttpOnly` })
            : answer;
        }),
      ),
  },
  "authorize.answers-with-code exchange.token-set refresh.token-set notifications.shape": {
    "compressed-with-plain-length: Who accepts gzip gets a compressed body with the length of the plain one.":
      finishing((answer, context) =>
        acceptsGzip(context)
          ? withHeaders({ ...answer, compressed: true }, { "content-length": String(answer.body.length) })
          : answer,
      ),
  },
});
