import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

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
