import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { createToldTime } from "./faketime-text.ts";

/** Runs this in a process of its own, whose time zone is Berlin's. */
const inBerlin = (expression: string): string =>
  execFileSync(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `import { parseFaketime, unclear, untellable } from ${JSON.stringify(new URL("faketime-text.ts", import.meta.url).href)};
       const why = (text) => unclear(text, parseFaketime(text));
       console.log(${expression} ?? "clear");`,
    ],
    { encoding: "utf8", env: { ...process.env, TZ: "Europe/Berlin" } },
  ).trim();

describe("a time of day without a zone", () => {
  it("is refused in an hour that comes twice or not at all", () => {
    const texts = [
      "2026-10-25 01:59:59",
      "2026-10-25 02:30:00",
      "2026-10-25 03:00:00",
      "2026-03-29 02:30:00.5",
    ];
    const [before, twice, after, never] = inBerlin(
      `[${texts.map((text) => `why(${JSON.stringify(text)})`).join()}].map((one) => one ?? "clear").join("\\n")`,
    ).split("\n");
    expect([before, after]).toEqual(["clear", "clear"]);
    expect(twice).toContain(
      '"2026-10-25 02:30:00" comes twice in the time zone of this process, Europe/Berlin',
    );
    expect(never).toContain('"2026-03-29 02:30:00" does not exist');
    expect(never).toContain("TZ=UTC");
  });

  it("is not written for either of the moments that it would name", () => {
    expect(inBerlin("untellable(Date.UTC(2026, 9, 25, 0, 30))")).toContain("comes twice");
    expect(inBerlin("untellable(Date.UTC(2026, 9, 25, 1, 30))")).toContain("comes twice");
  });
});

const START_MS = 1_700_000_000_000;

/** A file that was moved by a minute, and a service that was seen to follow before. */
const moved = () => {
  let wallMs = START_MS;
  const told = createToldTime(() => wallMs);
  const pass = (ms: number): void => void (wallMs += ms);
  told.moved({ kind: "offset", offsetMs: 0 });
  told.trust();
  pass(5_000);
  told.moved({ kind: "offset", offsetMs: 60_000 });
  pass(100);
  return { told, wallMs: () => wallMs };
};

describe("a timestamp after a move of the file", () => {
  it("is in order if it shows the move, also in whole seconds", () => {
    const { told, wallMs } = moved();
    expect(told.problemOf(wallMs() + 60_000, "authorize")).toBe(undefined);
    expect(told.problemOf(Math.floor((wallMs() + 60_000) / 1_000), "authorize")).toBe(undefined);
  });

  it("is late if it shows the time of an earlier content", () => {
    const { told, wallMs } = moved();
    expect(told.problemOf(wallMs() - 50, "exchange")).toContain("follows it late");
    expect(told.problemOf(Math.floor(wallMs() / 1_000), "exchange")).toContain("follows it late");
  });

  it.each([
    ["stands still", START_MS],
    ["is of the time before the move", START_MS + 4_900],
    ["is a small number", 5],
    ["is in the future", START_MS + 9e9],
  ])("is left to the rules if it %s", (_, timestamp) => {
    expect(moved().told.problemOf(timestamp, "refresh")).toBe(undefined);
  });

  it("says nothing while the service was not seen to follow", () => {
    const told = createToldTime(() => START_MS);
    told.moved({ kind: "offset", offsetMs: 0 });
    told.moved({ kind: "offset", offsetMs: 60_000 });
    expect(told.problemOf(START_MS, "authorize")).toBe(undefined);
  });

  it("may lag as far as it did while the service was seen to follow", () => {
    let wallMs = START_MS;
    const told = createToldTime(() => wallMs);
    told.moved({ kind: "offset", offsetMs: 0 });
    expect(told.problemOf(START_MS - 2_000, "authorize")).toBe(undefined);
    told.trust();
    told.moved({ kind: "offset", offsetMs: 2_000 });
    wallMs += 10;
    expect(told.problemOf(wallMs, "authorize")).toBe(undefined);
  });
});

describe("a timestamp of a time that stands still", () => {
  const told = createToldTime(() => START_MS);
  told.trust();
  told.moved({ kind: "frozen", atMs: START_MS });

  it.each([
    [-3_600_000, "1 h earlier"],
    [5.5 * 3_600_000 - 999, "5 h 30 min later"],
  ])("shows another time zone if it is off by %d ms", (byMs, why) => {
    expect(told.problemOf(START_MS + byMs, "authorize")).toContain(why);
  });

  it.each([0, -999, 500_000, -30 * 3_600_000])("shows none if it is off by %d ms", (byMs) => {
    expect(told.problemOf(START_MS + byMs, "authorize")).toBe(undefined);
  });

  it("says nothing about zones if it may be about something earlier", () => {
    expect(told.problemOf(START_MS - 3_600_000, "refresh")).toBe(undefined);
  });
});
