import { randomUUID } from "node:crypto";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import { type TestService, CONNECTIONS } from "./flow.ts";
import type { Pushing } from "./pushing.ts";
import http from "node:http";

type Fields = Readonly<Record<string, unknown>>;

interface Answered {
  readonly status: number;
  readonly fields: Fields;
}

type Crowd = ReturnType<typeof crowdAt>;

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

/*
 * The effect of a load on a service, in miniature: enough requests for tables to grow, then many concurrently. Each
 * function returns the rules it saw broken. The load scenarios judge the same with k6.
 */

type Broken = ReadonlySet<RequirementId>;

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";

/** How many codes are exchanged, and how often tokens are refreshed, before the crowd. */
export interface WarmUp {
  readonly exchanges: number;
  readonly refreshes: number;
  /** Codes that are never exchanged. */
  readonly codes?: number;
}

export const crowdOfClients = async (service: TestService, warmUp: WarmUp): Promise<Broken> => {
  using crowd = crowdAt(service);
  const issued = { codes: [] as unknown[], tokens: [] as unknown[] };
  const authorized = async (state: string): Promise<unknown> => {
    const answer = await crowd.authorize(state);
    crowd.expect("authorize.echoes-state", answer["state"] === state);
    issued.codes.push(answer["code"]);
    return answer["code"];
  };
  const used: unknown[] = [];
  const exchanged = async (state: string) => {
    const code = await authorized(state);
    const answer = await crowd.exchange(code);
    used.push(code);
    issued.tokens.push(answer["accessToken"], answer["refreshToken"]);
    return answer;
  };
  const refreshed = async (refreshToken: unknown) => {
    const answer = await crowd.refresh(refreshToken);
    crowd.expect("refresh.reusable", isText(answer["accessToken"]));
    crowd.expect("refresh.returns-no-refresh-token", answer["refreshToken"] === undefined);
    if (isText(answer["accessToken"])) issued.tokens.push(answer["accessToken"]);
    return answer["accessToken"];
  };
  const first = await exchanged("first");
  await times(warmUp.codes ?? 0, (index) => authorized(`c${index}`));
  await times(warmUp.exchanges, (index) => exchanged(`w${index}`));
  await times(warmUp.refreshes, () => crowd.refresh(first["refreshToken"])).then((answers) =>
    issued.tokens.push(...answers.map((answer) => answer["accessToken"])),
  );

  await times(40, async (index) => {
    const [code, spare] = [await authorized(`race${index}`), await authorized(`wrong${index}`)];
    const race = times(3, () => crowd.exchange(code));
    const wrong = await crowd.exchange(spare, "wrong");
    crowd.expect("exchange.authenticates-client", !isText(wrong["accessToken"]));
    const granted = (await race).filter(({ accessToken }) => isText(accessToken));
    crowd.expect("code.single-use-under-race", granted.length <= 1);
  });
  await times(40, async (index) => {
    const code = await authorized(`life${index}`);
    const tokens = await crowd.exchange(code);
    issued.tokens.push(tokens["accessToken"], tokens["refreshToken"]);
    crowd.expect("exchange.access-token-works", await opens(crowd, tokens["accessToken"]));
    const spare = await authorized(`spare${index}`);
    const [, again, , stranger, forgedCode, forgedToken] = await Promise.all([
      crowd.exchange(spare),
      refreshed(tokens["refreshToken"]),
      refreshed(tokens["refreshToken"]),
      opens(crowd, halfOf(tokens["accessToken"])),
      crowd.exchange(halfOf(code)),
      crowd.refresh(halfOf(tokens["refreshToken"])),
    ]);
    crowd.expect("access.required", !stranger);
    crowd.expect("code.unknown", !isText(forgedCode["accessToken"]));
    crowd.expect("refresh.unknown", !isText(forgedToken["accessToken"]));
    crowd.expect("refresh.access-token-works", await opens(crowd, again));
    crowd.expect("code.single-use", !isText((await crowd.exchange(code))["accessToken"]));
  });
  crowd.expect("code.single-use", !isText((await crowd.exchange(used[1]))["accessToken"]));
  // With nothing else in flight: a token that still waits for another request to be written is missing.
  crowd.expect("exchange.access-token-works", await opens(crowd, (await exchanged("last"))["accessToken"]));
  await times(60, () => exchanged("more"));
  await refreshed(first["refreshToken"]);
  crowd.expect("access.lifetime", await opens(crowd, first["accessToken"]));
  crowd.expect("authorize.code-is-fresh", new Set(issued.codes).size === issued.codes.length);
  crowd.expect("exchange.tokens-are-fresh", new Set(issued.tokens).size === issued.tokens.length);
  return crowd.broken;
};

const halfOf = (credential: unknown): string => String(credential).slice(0, 10);

const opens = async (crowd: Crowd, accessToken: unknown): Promise<boolean> =>
  Array.isArray((await crowd.list(accessToken, "?limit=1")).fields["data"]);

const EVENTS_OF_ACCOUNT = 3;
const EVENTS = 160;

/** Both reach the same service; one at a time the reads before the crowd are no matter of sockets. */
export const crowdOfReaders = async (
  service: TestService,
  unlisted: TestService,
  warmUpReads: number,
): Promise<Broken> => {
  using crowd = crowdAt(service);
  const { accessToken } = await crowd.exchange((await crowd.authorize("reader"))["code"]);
  const accounts = Array.from({ length: 12 }, () => randomUUID());
  for (const account of accounts) {
    await times(EVENTS_OF_ACCOUNT, () => crowd.event(account));
    await service.advance(1_000);
  }
  const [long, written] = [randomUUID(), randomUUID()];
  const ids = await times(12, () => crowd.event(long));
  const createTimes = new Map<string, string>();
  const page = async (query: string) => {
    const { fields } = await crowd.list(accessToken, query);
    const items = fields["data"] as readonly Readonly<Record<"id" | "accountId" | "createTime", string>>[];
    for (const { id, createTime } of items) {
      crowd.expect("notifications.pages-partition", (createTimes.get(id) ?? createTime) === createTime);
      createTimes.set(id, createTime);
    }
    return { items, total: Number(fields["total"]) };
  };
  // Sequentially, so that nothing is shared or swapped yet.
  for (let done = 0; done < warmUpReads; done += 1) await unlisted.list(String(accessToken), "?limit=1");

  const looks = [
    async (index: number) => {
      const account = accounts[index % accounts.length] ?? "";
      const { items, total } = await page(`?accountId=${account}&limit=5`);
      crowd.expect(
        "notifications.filter-account",
        items.every(({ accountId }) => accountId === account),
      );
      crowd.expect("notifications.total", total === EVENTS_OF_ACCOUNT);
      crowd.expect("notifications.limit", items.length === EVENTS_OF_ACCOUNT);
    },
    async (index: number) => {
      const id = ids[index % ids.length];
      const { items, total } = await page(`?id=${id}&limit=5`);
      crowd.expect(
        "notifications.filter-id",
        items.every((item) => item.id === id),
      );
      crowd.expect("notifications.total", total === 1);
    },
    async () => {
      const { items, total } = await page(`?accountId=${long}`);
      crowd.expect("notifications.default-limit", items.length === 10);
      crowd.expect("notifications.total", total === ids.length);
    },
  ];
  // Each begins with another one, so that different reads are under way at any time, however fast the machine is.
  await times(60, async (index) => {
    for (let step = 0; step < looks.length; step += 1) await looks[(index + step) % looks.length]?.(index);
  });
  for (let acknowledged = 0; acknowledged < 12; acknowledged += 1) {
    const pages = times(4, () => page("?limit=40"));
    const reads = times(6, () => page(`?accountId=${written}`));
    await crowd.event(written);
    for (const { items } of await pages)
      crowd.expect("notifications.under-writes", new Set(items.map(({ id }) => id)).size === items.length);
    for (const { items, total } of await reads) {
      crowd.expect("notifications.under-writes", total >= acknowledged && total <= acknowledged + 1);
      crowd.expect("notifications.under-writes", items.length >= Math.min(acknowledged, 10));
    }
  }
  await times(EVENTS, () => crowd.event(randomUUID()));
  crowd.expect("notifications.under-writes", (await page("?limit=1")).total >= EVENTS);
  return crowd.broken;
};

/** The gaps of the retry schedule, and time for one more. */
const STEPS_S = [30, 60, 120, 240, 480];

export const crowdOfEvents = async (service: Pushing): Promise<Broken> => {
  using crowd = crowdAt(service);
  const { receiver } = service;
  const acknowledged = new Set<string>();
  receiver.react = ({ id }) => {
    if (Number.parseInt(id.slice(0, 2), 16) % 5 > 0) return 500;
    acknowledged.add(id);
    return 200;
  };
  const events = await times(EVENTS, async () => {
    const accountId = randomUUID();
    return { accountId, id: await crowd.event(accountId) };
  });
  await service.advance(0);
  const counts: ReadonlyMap<string, number>[] = [countsOf(receiver.pushes)];
  for (const seconds of STEPS_S) {
    // What is due at the end of a step must be there by then, and nothing before.
    await service.advance(seconds * 1_000 - 1_000);
    counts.push(countsOf(receiver.pushes));
    await service.advance(1_000);
    counts.push(countsOf(receiver.pushes));
  }
  const pushesOf = Map.groupBy(receiver.pushes, ({ id }) => id);
  for (const { id, accountId } of events) {
    const pushes = pushesOf.get(id) ?? [];
    for (const { body } of pushes) crowd.expect("push.payload", body.includes(accountId));
    crowd.expect("push.delivered", pushes.length > 0);
    crowd.expect("push.cap", pushes.length <= 5);
    crowd.expect("push.same-notification", new Set(pushes.map(({ body }) => body)).size <= 1);
    if (acknowledged.has(id)) crowd.expect("push.acknowledged-stops", pushes.length === 1);
    else {
      crowd.expect("push.unacknowledged-retries", pushes.length >= 5 || pushes.length === 0);
      crowd.expect(
        "push.schedule",
        counts.every((seen, index) => (seen.get(id) ?? 0) === 1 + Math.floor(Math.min(index, 8) / 2)),
      );
    }
  }
  return crowd.broken;
};

const countsOf = (pushes: Pushing["receiver"]["pushes"]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { id } of pushes) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
};
