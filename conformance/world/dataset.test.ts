import { expect, test } from "vitest";
import { answer } from "../testing/made.ts";
import type { Answer } from "./exchange.ts";
import { prepareNotifications, type DatasetOptions } from "./dataset.ts";
import { createEvents, EventHookFailed, type EventsOptions } from "./hooks/events.ts";
import type { ListRequest } from "./target.ts";

interface Stored {
  readonly id: string;
  readonly accountId: string;
  readonly listedFromMs: number;
}

/** What the hook returns for the n-th event, which created the notification of this id. */
type Tells = (id: string, n: number) => string | undefined;

/** An in-memory list with the document's paging, whose notifications appear after a delay. */
const stub = (
  delayMs: number,
  { tells = (id) => id, ...options }: Partial<EventsOptions> & { tells?: Tells } = {},
) => {
  const stored: Stored[] = [];
  let nowMs = 0;
  let uuids = 0;
  const freshUuid = (): string => `${(uuids += 1).toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`;
  const add = (accountId: string): string => {
    const id = freshUuid();
    stored.push({ id, accountId, listedFromMs: nowMs + delayMs });
    return id;
  };
  const list = ({ query = {} }: ListRequest): Promise<Answer> => {
    const visible = stored.filter(
      (one) => one.listedFromMs <= nowMs && (query["accountId"] ?? one.accountId) === one.accountId,
    );
    const offset = 10 * Number(query["page"] ?? 0);
    const json = { data: visible.slice(offset, offset + 10), total: visible.length };
    return Promise.resolve(answer({ json }));
  };
  const events = createEvents({
    runHook: ({ accountId, n }) => Promise.resolve(tells(add(accountId), n)),
    clientId: "client",
    accounts: undefined,
    freshUuid,
    ...options,
  });
  const dataset: DatasetOptions = {
    target: { list },
    clock: {
      kind: "virtual",
      isMovedOnly: () => true,
      sleep: (durationMs) => {
        nowMs += durationMs;
        return Promise.resolve();
      },
      now: () => Promise.resolve({ earliestMs: nowMs, latestMs: nowMs }),
    },
    events,
    limits: { defaultLimit: 10, defaultPage: 0 },
    tolerances: { visibilityMs: 5_000, visibilityRealMs: 0 },
    accessToken: () => Promise.resolve("token"),
    freshUuid,
  };
  return { dataset, add, stored };
};

const ofOwn = [
  [36, true],
  [20, true],
  [3, true],
  [1, true],
];

test("accounts of its own hold 36, 20, 3 and 1 notifications, with the ids that the hook returned", async () => {
  const { dataset, stored } = stub(0);
  const { sets, notes } = await prepareNotifications(dataset);
  expect(notes).toEqual([]);
  expect(sets.accounts.map(({ ids, known }) => [ids.length, known])).toEqual(ofOwn);
  expect(stored.some(({ accountId }) => accountId === sets.emptyAccountId)).toBe(false);
});

test("ids that the hook does not return are read from the list", async () => {
  const { sets, notes } = await prepareNotifications(stub(4_000, { tells: () => undefined }).dataset);
  expect(notes).toEqual([]);
  expect(sets.accounts.map(({ ids, known }) => [ids.length, known])).toEqual(ofOwn);
});

const jobs: Tells = (_, n) => `job-${n}`;
const sameWord: Tells = () => "OK";

test.each([
  ["jobs", jobs],
  ["one word", sameWord],
])(
  "ids of something else that the hook returns (%s) are not taken for those of notifications",
  async (_, tells) => {
    const { dataset, stored } = stub(4_000, { tells });
    const { sets, notes } = await prepareNotifications(dataset);
    expect(notes).toEqual([
      expect.stringMatching(/hooks\.events\.trigger.*name the place of the id with `result`/),
    ]);
    expect(sets.accounts.map(({ ids, known }) => [ids.length, known])).toEqual(ofOwn);
    const ids = new Set(stored.map(({ id }) => id));
    expect(sets.accounts.flatMap((account) => account.ids).filter((id) => !ids.has(id))).toEqual([]);
    expect(await dataset.events?.trigger("account")).toBeUndefined();
  },
);

test("ids whose place the profile names stand, even if the list shows none of them", async () => {
  const { dataset, stored } = stub(0, { tells: jobs, idsAreNamed: true });
  const { sets, notes } = await prepareNotifications(dataset);
  expect(notes[0]).toMatch(/^of 36 notifications .*, 36 were listed .*, but not under all ids that the hook/);
  expect(notes.join()).not.toContain("something other");
  const listed = new Set(stored.map(({ id }) => id));
  expect(sets.accounts.map(({ ids, known }) => [ids.length, known])).toEqual(ofOwn);
  expect(sets.accounts.flatMap(({ ids }) => ids).filter((id) => listed.has(id))).toEqual([]);
  expect(await dataset.events?.trigger("account")).toBeDefined();
});

test("ids that the hook returns stand where the list shows some of them, or nothing", async () => {
  const { dataset, stored } = stub(0);
  const list: DatasetOptions["target"]["list"] = async (request) => {
    const page = await dataset.target.list(request);
    const hidden = stored[0]?.id;
    const { data, total } = page.json as { data: Stored[]; total: number };
    return { ...page, json: { data: data.filter(({ id }) => id !== hidden), total } };
  };
  const { sets } = await prepareNotifications({ ...dataset, target: { list } });
  expect(sets.accounts.map(({ ids, known }) => [ids.length, known])).toEqual(ofOwn);
  expect(await dataset.events?.trigger("account")).toBeDefined();
});

test("notifications that are not listed in time are noted, and still count as known", async () => {
  const { sets, notes } = await prepareNotifications(stub(60_000).dataset);
  expect(sets.accounts[0]).toMatchObject({ known: true });
  expect(notes[0]).toContain("of 36 notifications triggered");
  expect(notes[0]).toContain("tolerances.visibilityMs");
});

test("accounts named by the profile get only the notifications that they lack", async () => {
  const accounts = ["a", "b"].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const { dataset, add, stored } = stub(0, { accounts });
  for (let count = 0; count < 40; count += 1) add(accounts[0] ?? "");
  const { sets } = await prepareNotifications(dataset);
  expect(stored).toHaveLength(60);
  expect(sets.accounts.map(({ accountId, ids, known }) => [accountId, ids.length, known])).toEqual([
    [accounts[0], 40, false],
    [accounts[1], 20, false],
  ]);
});

test.each([
  [true, [0, 8, 16]],
  [false, [0, 1_000, 1_008]],
])(
  "if time is moved only (%s), the first events of an account are created %j ms after the first",
  async (isMovedOnly, moments) => {
    const { dataset, stored } = stub(0, { accounts: ["a".repeat(8)] });
    await prepareNotifications({
      ...dataset,
      clock: { ...dataset.clock, isMovedOnly: () => isMovedOnly },
    });
    const created = stored.slice(0, 36).map(({ listedFromMs }) => listedFromMs);
    expect(created).toEqual(moments.flatMap((ms) => Array.from({ length: 12 }, () => ms)));
  },
);

test("without a hook, existing notifications are read, the account with the most first", async () => {
  const { dataset, add } = stub(0);
  for (const digit of ["1", "2", "2", "3", "2", "3"]) add(`${digit.repeat(8)}-0000-4000-8000-000000000000`);
  const { sets, notes } = await prepareNotifications({ ...dataset, events: undefined });
  expect(notes).toEqual([]);
  expect(sets.accounts.map(({ ids, known }) => [ids.length, known])).toEqual([
    [3, false],
    [2, false],
    [1, false],
  ]);
});

test("a failing hook is reported with its name and the account", async () => {
  const { dataset } = stub(0, { runHook: () => Promise.reject(new Error("status 500")) });
  await expect(prepareNotifications(dataset)).rejects.toThrow(EventHookFailed);
  await expect(prepareNotifications(dataset)).rejects.toThrow(/events\.trigger.*for account .*status 500/);
});
