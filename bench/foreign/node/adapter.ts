import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import OAuth2Server from "@node-oauth/oauth2-server";
import { accessTokenHeader, endpoints } from "../../../conformance/contract/forms.ts";
import { answerJson, readJson, Unreadable } from "./http.ts";
import { owner } from "./model.ts";
import type { Notifications } from "./notifications.ts";

const { Request, Response } = OAuth2Server;

/** The library set up for this document; everything else is the default. */
export const createOAuth = (model: OAuth2Server.ServerOptions["model"]): OAuth2Server =>
  new OAuth2Server({
    model,
    authenticateHandler: { handle: () => owner },
    authorizationCodeLifetime: 600,
    accessTokenLifetime: 3_600,
    refreshTokenLifetime: 30 * 24 * 3_600,
    alwaysIssueNewRefreshToken: false,
    requireClientAuthentication: { refresh_token: false },
  });

type Route = (request: IncomingMessage, response: ServerResponse, query: URLSearchParams) => Promise<void>;

/**
 * Translates the document's four calls to the library's, and its answers back. Every decision on codes, tokens and
 * clients is the library's; its redirects are passed on. Below /test is what a test does to the service from outside.
 */
export const createAdapter = (
  oauth: OAuth2Server,
  notifications: Notifications,
  advance: (byMs: number) => void,
): Server => {
  const authorize: Route = async (_request, response, query) => {
    const answer = new Response();
    const { clientId, state, redirectUri } = Object.fromEntries(query);
    const asked = new Request({
      method: "GET",
      headers: {},
      query: onlyDefined({ response_type: "code", client_id: clientId, state, redirect_uri: redirectUri }),
    });
    const failure = await failureOf(oauth.authorize(asked, answer));
    const location: unknown = answer.get("location");
    // Headers are ASCII only; web frameworks encode redirect addresses.
    if (typeof location === "string") response.writeHead(302, { location: new URL(location).href }).end();
    else refuse(response, failure);
  };

  const grant =
    (names: Readonly<Record<string, string>>, grantType: string): Route =>
    async (request, response) => {
      const given = await readJson(request);
      const body = Object.fromEntries(Object.entries(names).map(([theirs, ours]) => [theirs, given[ours]]));
      const answer = new Response();
      // The library reads forms only; this is the form equivalent to the JSON.
      const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": "1" };
      const asked = new Request({
        method: "POST",
        headers,
        query: {},
        body: { grant_type: grantType, ...body },
      });
      const failure = await failureOf(oauth.token(asked, answer));
      if (failure !== undefined) return refuse(response, failure, answer.headers);
      const {
        access_token: accessToken,
        refresh_token: refreshToken,
        expires_in: expiresIn,
      } = answer.body as Record<string, unknown>;
      answerJson(
        response,
        200,
        { accessToken, refreshToken, expiresIn, timestamp: Date.now() },
        answer.headers,
      );
    };

  const list: Route = async (request, response, query) => {
    const token = request.headers[accessTokenHeader];
    const headers = onlyDefined({
      authorization: token === undefined ? undefined : `Bearer ${String(token)}`,
    });
    const answer = new Response();
    const failure = await failureOf(
      oauth.authenticate(new Request({ method: "GET", headers, query: {} }), answer),
    );
    if (failure !== undefined) return refuse(response, failure, answer.headers);
    const page = notifications.list(query);
    if (page === undefined) answerJson(response, 400, { error: "invalid_request" });
    else answerJson(response, 200, page);
  };

  const tellTime: Route = async (_request, response) => answerJson(response, 200, { now: Date.now() });

  const routes: Readonly<Record<string, Route | undefined>> = {
    [`GET ${endpoints.authorize.path}`]: authorize,
    [`POST ${endpoints.exchange.path}`]: grant(
      { client_id: "clientId", client_secret: "clientSecret", code: "code" },
      "authorization_code",
    ),
    [`POST ${endpoints.refresh.path}`]: grant(
      { client_id: "clientId", refresh_token: "refreshToken" },
      "refresh_token",
    ),
    [`GET ${endpoints.list.path}`]: list,
    "GET /test/clock": tellTime,
    "POST /test/clock/advance": async (request, response, query) => {
      const { ms } = await readJson(request);
      if (!Number.isSafeInteger(ms) || Number(ms) < 0) throw new Unreadable(400);
      advance(Number(ms));
      return tellTime(request, response, query);
    },
    "POST /test/events": async (request, response) => {
      const { accountId } = await readJson(request);
      if (typeof accountId !== "string") throw new Unreadable(400);
      answerJson(response, 200, { id: notifications.create(accountId) });
    },
  };
  return createServer((request, response) => {
    const [path = "", query = ""] = (request.url ?? "").split(/\?(.*)/s);
    const route = routes[`${request.method} ${path}`];
    if (route === undefined) return answerJson(response, 404, { error: "not_found" });
    void route(request, response, new URLSearchParams(query)).catch((error: unknown) =>
      answerJson(response, error instanceof Unreadable ? error.status : 500, { error: "invalid_request" }),
    );
  });
};

/** The library's error, or undefined if it succeeded. */
const failureOf = async (work: Promise<unknown>): Promise<OAuth2Server.OAuthError | undefined> => {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof OAuth2Server.OAuthError) return error;
    throw error;
  }
};

/** Answers a refusal like the library's own wrappers for web frameworks. */
const refuse = (
  response: ServerResponse,
  failure: OAuth2Server.OAuthError | undefined,
  headers?: Record<string, string>,
): void =>
  answerJson(
    response,
    failure?.code ?? 500,
    { error: failure?.name, error_description: failure?.message },
    headers,
  );

const onlyDefined = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
