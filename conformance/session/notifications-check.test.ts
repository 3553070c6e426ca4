import { createServer } from "node:http";
import { expect, it } from "vitest";
import type { Profile } from "../contract/profile.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { passOnInVain } from "../testing/surroundings.ts";
import { listening, passOn } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { preflight } from "./preflight.ts";
import { openSession } from "./session.ts";

const stopping = stopAfterEach();

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
