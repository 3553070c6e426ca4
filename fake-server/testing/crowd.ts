import http from "node:http";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import { CONNECTIONS, type TestService } from "./flow.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Answered {
  readonly status: number;
  readonly fields: Fields;
}

export type Crowd = ReturnType<typeof crowdAt>;

const OVERLOADED = 503;

/** Many concurrent requests to one service, over kept connections if it listens. */
export const crowdAt = (service: TestService) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const { id, secret, redirectUri } = service.client;
  const broken = new Set<RequirementId>();
  const sendOnce = async (
    url: string,
    method: string,
    headers: Record<string, string>,
    body?: unknown,
  ): Promise<Answered> => {
    const { status, text } = await service.send(url, {
      agent,
      method,
      headers: { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status, fields: JSON.parse(text) as Fields };
  };
  /** An overloaded service did nothing, so a retry is not a second request. */
  const send: typeof sendOnce = async (...request) => {
    const answered = await sendOnce(...request);
    return answered.status === OVERLOADED ? send(...request) : answered;
  };
  const oauth = `${service.baseUrl}/open-api/oauth`;
  const callback = encodeURIComponent(redirectUri);
  return {
    /** Rules seen broken. */
    broken,
    /** Records a broken rule unless the condition holds. */
    expect: (rule: RequirementId, holds: boolean): void => {
      if (!holds) broken.add(rule);
    },
    authorize: async (state: string) =>
      (await send(`${oauth}/authorize?clientId=${id}&state=${state}&redirectUri=${callback}`, "GET", {}))
        .fields,
    exchange: async (code: unknown, clientSecret = secret) =>
      (await send(`${oauth}/access-token`, "POST", {}, { clientId: id, clientSecret, code })).fields,
    refresh: async (refreshToken: unknown) =>
      (await send(`${oauth}/refresh-token`, "POST", {}, { clientId: id, refreshToken })).fields,
    list: (accessToken: unknown, query = "") =>
      send(`${service.baseUrl}/open-api/v1/notifications${query}`, "GET", {
        "x-service-access-token": String(accessToken),
      }),
    event: async (accountId: string) =>
      String((await send(`${service.controlUrl}/events`, "POST", {}, { accountId })).fields["id"]),
    [Symbol.dispose]: () => agent.destroy(),
  };
};

/** Repeats a task, concurrently up to the number of connections. */
export const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
