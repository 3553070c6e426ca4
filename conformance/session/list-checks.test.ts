import { createServer } from "node:http";
import path from "node:path";
import { expect, it } from "vitest";
import { HOUR_MS } from "../contract/duration.ts";
import { eachTestIn } from "../testing/folders.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { emptyPrepared, type Prepared } from "../world/world.ts";
import { checkListClock } from "./list-checks.ts";
import { openByFile, serving, type Service } from "./testing/by-file.ts";
import type { Profile } from "../contract/profile.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { passOnInVain } from "../testing/surroundings.ts";
import { listening, passOn } from "../testing/servers.ts";
import { preflight } from "./preflight.ts";
import { openSession } from "./session.ts";

const stopping = stopAfterEach();
let folder: string;
eachTestIn((made) => (folder = made));

interface Lists extends Omit<Service, "nowMs" | "livesMs"> {
  /** By whose time the list judges tokens, for each request for it in turn. */
  readonly lists: readonly ("file" | "machine")[];
  readonly livesMs?: number;
}

/** Issues tokens by the file's time, and what the check says of its list. */
const judged = async (
  { lists, livesMs = HOUR_MS, ...service }: Lists,
  prepared: Partial<Prepared> = { isListShown: true },
) => {
  const file = path.join(folder, "clock");
  let listed = 0;
  const isByMachine = (asked: string): boolean =>
    asked.endsWith("/notifications") && lists[listed++ % lists.length] === "machine";
  const { world, missing } = await openByFile(stopping, file, "+0", (readMs) =>
    serving({
      fields: { expiresIn: 3_600 },
      ...service,
      nowMs: (asked) => (isByMachine(asked) ? Date.now() : readMs()),
      livesMs: { accessToken: livesMs },
    }),
  );
  const known = { ...emptyPrepared, ...prepared };
  const checked = await checkListClock(world(known), file);
  const verdictOn = (id: Parameters<typeof missing>[0]) => missing(id, { ...known, ...checked.prepared });
  return { ...checked, verdictOn };
};

it.each([
  ["the process of the list does not follow the file", { lists: ["machine"] }],
  ["one of several does not, and each sends a Date", { lists: ["file", "file", "machine"], isDated: true }],
  ["accessTokens never end", { lists: ["file"], livesMs: Infinity }],
] as const)("only what needs a token to end at the list is left undecided if %s", async (_, service) => {
  const { checks, verdictOn } = await judged(service);
  expect(checks).toMatchObject([{ ok: "skipped" }]);
  const says =
    /opened the list at an age of 4 h: what serves the list does not follow .* or accessTokens do not end/;
  for (const id of ["access.lifetime", "lifecycle.model"] as const)
    expect(verdictOn(id)).toMatchObject({ missing: "moved-list", reason: expect.stringMatching(says) });
  expect(verdictOn("code.lifetime")).toBeUndefined();
  expect(verdictOn("refresh.lifetime")).toBeUndefined();
});

it.each([
  ["the list follows the file", { lists: ["file"] }, {}],
  [
    "the service does not say how long they live",
    { lists: ["machine"], fields: { expiresIn: undefined } },
    {},
  ],
  ["an empty page says nothing of its token", { lists: ["machine"] }, { emptyPage: "undecided" }],
] as const)("all is left to the rules if %s", async (_, service, prepared) => {
  const { checks, verdictOn } = await judged(service, { isListShown: true, ...prepared });
  expect(checks).toEqual([]);
  expect(verdictOn("access.lifetime")).toBeUndefined();
});

/** What the preflight makes of a fake whose hooks do what they are asked to, but lose the answers to these events. */
const examineLosing = async (isLost: (event: number) => boolean) => {
  const fake = await stopping(startFake());
  const { controlUrl } = fake.server;
  let events = 0;
  const hooks = await stopping(
    listening(
      createServer((incoming, outgoing) => {
        if (incoming.url === "/events") events += 1;
        if (incoming.url !== "/events" || !isLost(events)) return passOn(controlUrl, incoming, outgoing);
        void passOnInVain(controlUrl, incoming).then(() => outgoing.destroy());
      }),
    ),
  );
  const resolved = await fake.resolved(
    (own) => JSON.parse(JSON.stringify(own).replaceAll(controlUrl, hooks.origin)) as Profile,
  );
  const session = openSession(resolved, runOptions());
  await stopping({ stop: () => session.close() });
  return { ...(await preflight(session, { notifications: true })), events };
};

it("triggers other events, in fresh accounts, if a hook's answer is lost", async () => {
  const { checks, prepared, events } = await examineLosing((event) => event === 5);
  expect(checks.filter(({ ok }) => ok === false)).toEqual([]);
  expect(prepared.notifications.accounts.map(({ ids, known }) => [ids.length, known])).toEqual([
    [36, true],
    [20, true],
    [3, true],
    [1, true],
  ]);
  const { events: usual } = await examineLosing(() => false);
  expect(events).toBeGreaterThan(usual);
});

it("reports a hook whose answers are always lost", async () => {
  const { checks } = await examineLosing(() => true);
  expect(checks).toContainEqual(
    expect.objectContaining({ check: "hooks.events.trigger", ok: false, fatal: "configuration" }),
  );
});
