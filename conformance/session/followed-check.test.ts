import type { IncomingMessage, ServerResponse } from "node:http";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { eachTestIn } from "../testing/folders.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { newScope } from "../world/evidence/journal.ts";
import { parseFaketime } from "../world/time/faketime-text.ts";
import { emptyPrepared } from "../world/world.ts";
import { checkFollowed } from "./followed-check.ts";
import { openSession } from "./session.ts";

const stopping = stopAfterEach();
let folder: string;
eachTestIn((made) => (folder = made));

/** Answers authorize and access-token; the next of its timestamps is `tell`'s. */
const answering =
  (tell: () => number) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const { searchParams } = new URL(request.url ?? "/", "http://service.example");
    const body =
      request.method === "GET"
        ? { code: "a-code", state: searchParams.get("state") }
        : { accessToken: "an-access-token", refreshToken: "a-refresh-token", expiresIn: 7_200 };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ timestamp: tell(), ...body }));
  };

/** The check of a service that reads a file which says this at first. */
const checked = async (startsAt: string, service: (readMs: () => number) => () => number) => {
  const file = path.join(folder, "clock");
  writeFileSync(file, startsAt);
  const readMs = (): number => {
    const setting = parseFaketime(readFileSync(file, "utf8"));
    if (setting === undefined) throw new Error("the file says no time");
    return setting.kind === "frozen" ? setting.atMs : Date.now() + setting.offsetMs;
  };
  const { origin } = await stopping(serveHttp(answering(service(readMs))));
  const fake = await stopping(startFake());
  const resolved = await fake.resolved({ baseUrl: origin, hooks: { clock: { faketime: { file } } } });
  const session = openSession(resolved, runOptions());
  await stopping({ stop: () => session.close() });
  const world = session.world(newScope("preflight"), session.clocks.join(), emptyPrepared);
  return checkFollowed(world, file, session.clocks);
};

/** Keeps what it read for this many answers. */
const keeping =
  (answers: number) =>
  (readMs: () => number): (() => number) => {
    let count = 0;
    let keptMs = 0;
    return () => {
      if (count % answers === 0) keptMs = readMs();
      count += 1;
      return keptMs;
    };
  };

const seconds = (readMs: () => number) => () => Math.floor(readMs() / 1_000);
const minutes = (readMs: () => number) => () => Math.floor(readMs() / 60_000) * 60_000;
const ahead = (byMs: number) => (readMs: () => number) => () => readMs() + byMs;
const FROZEN = "2026-01-31 12:00:00";

it.each([
  ["at once", "+0", keeping(1)],
  ["in whole seconds", "+0", seconds],
  ["in whole minutes", "+0", minutes],
  ["at once, with a time that stands still", FROZEN, keeping(1)],
  ["in whole seconds, with a time that stands still", FROZEN, seconds],
  ["with a time some days ahead of one that stands still", FROZEN, ahead(5 * 86_400_000)],
])("a service passes that follows the file %s", async (_, startsAt, service) => {
  expect(await checked(startsAt, service)).toMatchObject({ ok: true });
});

// Its first answers after the first move may well show it.
it.each([3, 4, 5, 6, 7])(
  "a service is refused that keeps what it read from the file for %d answers",
  async (answers) => {
    const check = await checked("+0", keeping(answers));
    expect(check).toMatchObject({ ok: false, fatal: "configuration" });
    expect(check.remedy).toContain("FAKETIME_NO_CACHE=1");
  },
);

it("a service is refused that reads a time that stands still in another time zone", async () => {
  const check = await checked(FROZEN, ahead(-3_600_000));
  expect(check).toMatchObject({ ok: false, fatal: "configuration" });
  expect(check.message).toContain("1 h earlier: it runs in another time zone");
  expect(check.remedy).toContain("TZ");
});
