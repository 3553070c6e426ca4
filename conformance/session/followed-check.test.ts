import path from "node:path";
import { describe, expect, it } from "vitest";
import { eachTestIn } from "../testing/folders.ts";
import { stopAfterEach } from "../testing/stopping.ts";
import { checkFollowed } from "./followed-check.ts";
import { openByFile, serving, type Serving } from "./testing/by-file.ts";

const stopping = stopAfterEach();
let folder: string;
eachTestIn((made) => (folder = made));

/** The session with a service that reads a file which says this at first, or ought to, and its check. */
const judged = async (startsAt: string, serve: (readMs: () => number) => Serving) => {
  const file = path.join(folder, "clock");
  const opened = await openByFile(stopping, file, startsAt, serve);
  const { clocks } = opened.session;
  const check = await checkFollowed(opened.world(), { faketimeFile: file, isTold: false }, clocks);
  return { ...opened, check };
};

const checked = async (startsAt: string, tells: (readMs: () => number) => () => number) =>
  (await judged(startsAt, (readMs) => serving({ nowMs: readMs, timestamp: tells(readMs) }))).check;

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

describe("a service whose timestamps do not move", () => {
  const document = { code: 600_000, accessToken: 7_200_000, refreshToken: 2_592_000_000 };
  const fixed = { timestamp: () => Date.UTC(2026, 0, 31, 12, 0, 1) };

  it("makes lifetimes undecided if it has none and ignores the file", async () => {
    const { session, check, missing } = await judged("+0", () =>
      serving({ nowMs: Date.now, livesMs: document }),
    );
    expect(check).toMatchObject({ ok: "skipped" });
    expect(check).not.toHaveProperty("fatal");
    expect(check.message).toContain("neither a code nor a token was seen to expire");
    for (const id of ["code.lifetime", "refresh.lifetime", "access.lifetime"] as const)
      expect(missing(id)?.reason).toMatch(
        /could not be verified that its clock follows .*FAKETIME_NO_CACHE=1/,
      );
    expect(missing("authorize.timestamp")).toBeUndefined();
    expect(missing("code.single-use")).toBeUndefined();
    expect(session.clocks.join().canWait(session.limits.codeLifetimeMs)).toBe(false);
  });

  it("is refused if they stand still and it ignores the file", async () => {
    const { check } = await judged("+0", () => serving({ nowMs: Date.now, livesMs: document, ...fixed }));
    expect(check).toMatchObject({ ok: false, fatal: "configuration" });
    expect(check.message).toContain("the service's clock does not follow");
  });

  it.each([
    ["has none", {}, { ok: "skipped" }],
    ["has some that stand still", { ...fixed }, { ok: false, fatal: "configuration" }],
  ] as const)(
    "is not taken to follow because it refuses each refresh, if it %s",
    async (_, service, result) => {
      const { check } = await judged("+0", () =>
        serving({ ...service, nowMs: Date.now, livesMs: document, refusesRefresh: true }),
      );
      expect(check).toMatchObject(result);
      expect(check.message).toContain("neither a code nor a token was seen to expire");
    },
  );

  it("is not taken to follow because the answer to an exchange was lost, where it has none", async () => {
    const { session, check } = await judged("+0", () =>
      serving({ nowMs: Date.now, livesMs: document, status: (exchange) => (exchange === 2 ? 502 : 200) }),
    );
    expect(check).toMatchObject({ ok: "skipped" });
    expect(session.clocks.distrusted?.()).toContain("neither a code nor a token");
  });

  it.each([
    ["its codes expire", { livesMs: document }, "a code expired"],
    [
      "its accessTokens expire, though its codes never do",
      { livesMs: { accessToken: 7_200_000 } },
      "an accessToken",
    ],
    [
      "its refreshTokens expire, though nothing else ever does",
      { livesMs: { refreshToken: 2_592_000_000 } },
      "a refreshToken",
    ],
    ["its Date moves, though nothing ever expires", { isDated: true }, "the Date of its answers"],
  ] as const)("passes if %s", async (_, service, shown) => {
    const { check, missing } = await judged("+0", (readMs) => serving({ ...service, nowMs: readMs }));
    expect(check).toMatchObject({ ok: true });
    expect(check.message).toContain(shown);
    expect(missing("code.lifetime")).toBeUndefined();
  });
});

describe("a service of two processes, one of which does not read the file", () => {
  /** Both know each code, and each judges it by its own time. `routes` says of each request in turn whether the other gets it. */
  const inTwoProcesses =
    (routes: string) =>
    (readMs: () => number): Serving => {
      let asked = 0;
      return serving({
        nowMs: () => (routes[asked++ % routes.length] === "o" ? Date.now() : readMs()),
        timestamp: (nowMs) => nowMs,
        livesMs: { code: 150_000 },
      });
    };

  it("is refused, and the message says so, if codes of it are expired for the first", async () => {
    const { check } = await judged("+0", inTwoProcesses("ffffooofof"));
    expect(check).toMatchObject({ ok: false, fatal: "configuration" });
    expect(check.message).toContain("a process of the service does not seem to read");
    expect(check.remedy).toMatch(/^start every process of the service with LD_PRELOAD/);
  });

  it("is found out in the run if it gets all authorizations, and no exchange that told it got tokens", async () => {
    const { session, check, world } = await judged("+0", inTwoProcesses("of"));
    expect(check).toMatchObject({ ok: true });
    const { clock, target } = world();
    await clock.sleep(600_000);
    await target.authorize();
    expect(() => session.clocks.verify?.()).toThrow("FAKETIME_NO_CACHE=1");
  });

  it("cannot be verified if codes are expired before a timestamp tells", async () => {
    const { session, check } = await judged("+4m", inTwoProcesses("of"));
    expect(check).toMatchObject({ ok: "skipped" });
    expect(session.clocks.distrusted?.()).toContain("the flow failed");
  });
});

describe("a service that answers some exchanges with an error", () => {
  /** Follows the file, but gives `status` to the exchanges of these numbers. */
  const failing = (status: number, fails: (exchange: number) => boolean) => (readMs: () => number) =>
    serving({
      nowMs: readMs,
      status: (exchange) => (fails(exchange) ? status : 200),
      timestamp: (nowMs) => nowMs,
    });

  it.each([
    ["a lost answer is not the last", 502, (exchange: number) => exchange === 3],
    ["all are refused from then on", 500, (exchange: number) => exchange > 2],
  ] as const)("passes once it showed a move, if %s", async (_, status, fails) => {
    const { session, check } = await judged("+0", failing(status, fails));
    expect(check).toMatchObject({ ok: true });
    expect(session.clocks.distrusted?.()).toBeUndefined();
  });

  it("keeps its clock if every answer is lost", async () => {
    const { session, check } = await judged(
      "+0",
      failing(502, () => true),
    );
    expect(check).toMatchObject({ ok: "skipped" });
    expect(check.message).toContain("the flow failed");
    expect(session.clocks.distrusted?.()).toBeUndefined();
  });
});

const SHOWN = /; each of (?:[4-9]|\d\d) moves was shown within [\d.]+ m?s$/;

it("the check of a service that follows the file says within how much time moves were shown", async () => {
  expect((await checked("+0", keeping(1))).message).toMatch(SHOWN);
});
