import { accessTokenHeader, endpoints } from "../../conformance/contract/forms.ts";
import { fill, fillAddress, fillJson } from "../../conformance/contract/placeholders.ts";
import type { ScriptClient, ScriptHook, ScriptSettings } from "../protocol.ts";
import type { Endpoint, Exchange } from "./exchange.ts";
import type { ListQuery } from "./oracles/pages.ts";

export interface Request {
  readonly endpoint: Endpoint;
  readonly method: Exchange["method"];
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether a refusal is not a failure: the request probes for one, or the document allows it. */
  readonly mayBeRefused: boolean;
}

/**
 * Headers by which k6 sends a request with a body again if its kept connection ends before the answer begins, without
 * telling. Their value would be the same in all requests anyway.
 */
const letsRepeat = /^(x-)?idempotency-key$/i;

const once = (headers: Request["headers"]): Request["headers"] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !letsRepeat.test(name)));

const json = { "Content-Type": "application/json" } as const;

/** The documented requests (section 4), and the event hook if there is one. */
export const requestsFor = (settings: ScriptSettings) => {
  const { trigger } = settings;
  const base = settings.baseUrl.replace(/\/+$/, "");
  const common = { ...settings.headers, ...json };
  const post = (endpoint: "exchange" | "refresh", body: unknown, mayBeRefused: boolean): Request => ({
    endpoint,
    method: "POST",
    url: base + endpoints[endpoint].path,
    headers: once(common),
    body: JSON.stringify(body),
    mayBeRefused,
  });
  return {
    authorize: (client: ScriptClient, state: string): Request => ({
      endpoint: "authorize",
      method: "GET",
      url: `${base}${endpoints.authorize.path}?${encoded({
        clientId: client.id,
        state,
        redirectUri: client.redirectUri,
        ...settings.authorize.query,
      })}`,
      headers: { ...common, ...settings.authorize.headers },
      mayBeRefused: false,
    }),
    exchange: (client: ScriptClient, code: string, mayBeRefused = false): Request =>
      post("exchange", { clientId: client.id, clientSecret: client.secret, code }, mayBeRefused),
    refresh: (client: ScriptClient, refreshToken: string, mayBeRefused = false): Request =>
      post("refresh", { clientId: client.id, refreshToken }, mayBeRefused),
    list: (accessToken: string, query: ListQuery, mayBeRefused = false): Request => ({
      endpoint: "list",
      method: "GET",
      url: `${base}${endpoints.list.path}${queryOf(query, settings.limits.defaultPage)}`,
      headers: { ...common, [accessTokenHeader]: accessToken },
      mayBeRefused,
    }),
    /** Undefined if the target has no event hook. */
    trigger: trigger && ((client: ScriptClient, accountId: string) => triggering(trigger, client, accountId)),
  } satisfies Readonly<Record<Endpoint, unknown>>;
};

const triggering = (hook: ScriptHook, client: ScriptClient, accountId: string): Request => {
  const values = { accountId, clientId: client.id };
  return {
    endpoint: "trigger",
    method: hook.method as Request["method"],
    url: fillAddress(hook.url, values),
    headers: once({
      ...(hook.body === undefined ? {} : json),
      ...Object.fromEntries(Object.entries(hook.headers).map(([name, value]) => [name, fill(value, values)])),
    }),
    ...(hook.body === undefined ? {} : { body: JSON.stringify(fillJson(hook.body, values)) }),
    mayBeRefused: false,
  };
};

const queryOf = ({ page, ...query }: ListQuery, firstPage: number): string => {
  const text = encoded({ ...query, ...(page === undefined ? {} : { page: firstPage + page }) });
  return text === "" ? "" : `?${text}`;
};

const encoded = (parameters: Readonly<Record<string, string | number>>): string =>
  Object.entries(parameters)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
