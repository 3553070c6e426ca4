import { expect, test } from "vitest";
import { isRequirementId } from "../../conformance/contract/catalogue.ts";
import { bundlesOf, joint, loadDefects, loadVariants } from "../index.ts";
import {
  crowdAt,
  times,
  crowdOfClients,
  crowdOfEvents,
  crowdOfReaders,
  type WarmUp,
} from "../testing/crowds.ts";
import { ACCOUNT, bothWays, startTestService, tokensOf, unlistedService } from "../testing/flow.ts";
import { startPushing } from "../testing/pushing.ts";

const entries = Object.entries(loadDefects);
const breaksOf = (name: string) => loadDefects[name]?.breaks ?? [];
/** Names of the load defects that break a rule and show in one of these scenarios. */
const shownBy = (...scenarios: readonly string[]): readonly string[] =>
  entries
    .filter(([, { breaks, shownBy: load }]) => breaks.length > 0 && scenarios.includes(load.scenario))
    .map(([name]) => name);
const ofClients = shownBy("token", "mixed");
const ofReaders = shownBy("notifications");
const ofPushes = shownBy("push");

const USUAL: WarmUp = { exchanges: 260, refreshes: 190 };
/** Defects that show only after many codes or tokens need a longer warm-up. */
const warmUps: Readonly<Record<string, WarmUp>> = {
  "load-codes-of-eighteen-bits": { ...USUAL, codes: 1_500 },
  "load-tokens-repeat-after-a-thousand": { ...USUAL, refreshes: 1_000 },
};

const listening = (behaviour: string) => startTestService({ behaviour });
const clientsAt = async (
  behaviour: string,
  start: typeof listening | typeof unlistedService = unlistedService,
) => {
  await using service = await start(behaviour);
  return await crowdOfClients(service, warmUps[behaviour] ?? USUAL);
};
const readersAt = async (behaviour: string) => {
  // Without sockets, reads are answered before the writes beside them.
  const { listening: service, unlisted } = await bothWays(behaviour);
  await using _ = service;
  const reads = breaksOf(behaviour).includes("notifications.under-writes") ? 910 : 410;
  return await crowdOfReaders(service, unlisted, reads);
};
const eventsAt = async (behaviour: string) => {
  await using service = await startPushing({ behaviour });
  return await crowdOfEvents(service);
};

test("there are at least 20 load defects, each of which breaks a rule or misses an objective", () => {
  expect(entries.length).toBeGreaterThanOrEqual(20);
  for (const [name, { breaks, misses }] of entries) {
    expect({ name, known: breaks.every(isRequirementId) }).toEqual({ name, known: true });
    expect({ name, shows: breaks.length > 0 || misses !== undefined }).toEqual({ name, shows: true });
  }
});

test.each(ofClients)("%s breaks its rules under concurrent clients", async (behaviour) => {
  expect([...(await clientsAt(behaviour))]).toEqual(expect.arrayContaining([...breaksOf(behaviour)]));
});

test.each(ofReaders)("%s breaks its rules under concurrent readers", async (behaviour) => {
  expect([...(await readersAt(behaviour))]).toEqual(expect.arrayContaining([...breaksOf(behaviour)]));
});

test.each(ofPushes)("%s breaks its rules when many events are pushed", async (behaviour) => {
  expect([...(await eventsAt(behaviour))]).toEqual(expect.arrayContaining([...breaksOf(behaviour)]));
});

test.each(["sound", ...bundlesOf(loadVariants).map((names) => names.join(joint))])(
  "%s breaks no rule under concurrent clients",
  async (behaviour) => {
    // A variant may differ in its connections.
    expect([...(await clientsAt(behaviour, listening))]).toEqual([]);
  },
);

test("load-pages-slower-with-every-notification takes more than 350 ms to list after 60 events", async () => {
  await using service = await startTestService({ behaviour: "load-pages-slower-with-every-notification" });
  using crowd = crowdAt(service);
  const { accessToken } = await tokensOf(service);
  await times(60, () => crowd.event(ACCOUNT));
  const startedMs = performance.now();
  await crowd.list(accessToken);
  expect(performance.now() - startedMs).toBeGreaterThan(350);
});

test("load-push-holds-a-lock makes each push wait for the lock of the previous one", async () => {
  await using service = await startPushing({ behaviour: "load-push-holds-a-lock" });
  using crowd = crowdAt(service);
  await times(20, () => crowd.event(ACCOUNT));
  const seen: number[] = [];
  for (const ms of [0, 39, 1, 359, 1, 360]) {
    await service.advance(ms);
    seen.push(service.receiver.pushes.length);
  }
  expect(seen).toEqual([1, 1, 2, 10, 11, 20]);
});

test("load-push-holds-a-lock blocks no push for a retry that is due later", async () => {
  await using service = await startPushing({ behaviour: "load-push-holds-a-lock" });
  service.receiver.react = () => 500;
  using crowd = crowdAt(service);
  const seen: number[] = [];
  for (const ms of [0, 40, 29_960, 40]) {
    if (ms < 100) await crowd.event(ACCOUNT);
    await service.advance(ms);
    seen.push(service.receiver.pushes.length);
  }
  // At half a minute comes the first retry; the last event waits for it, beside the retry of the second one.
  expect(seen).toEqual([1, 2, 3, 4]);
});
