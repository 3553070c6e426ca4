import { expect, it } from "vitest";
import { choiceFlag, dateFlag, durationFlag, integerFlag, listFlag, seedFlag } from "./flags.ts";
import { problemOf } from "../../conformance/testing/errors.ts";
import { Command } from "@commander-js/extra-typings";
import { narrowHelp } from "../program.ts";

it("parses integers within their bounds", () => {
  expect([seedFlag("-2147483648"), seedFlag("2147483647"), integerFlag("--port", 0, 65_535)("0")]).toEqual([
    -(2 ** 31),
    2 ** 31 - 1,
    0,
  ]);
});

it.each(["", " 5", "5.0", "1e3", "0x10", "five", "-1", "65536", "9".repeat(400)])(
  "refuses %j as a port, with what is accepted",
  async (text) => {
    expect(await problemOf(() => integerFlag("--port", 0, 65_535)(text))).toBe(
      `--port is "${text}"; accepted is a whole number from 0 to 65535`,
    );
  },
);

it("refuses integers out of bounds", async () => {
  expect(await problemOf(() => seedFlag("2147483648"))).toContain("--seed");
  expect(await problemOf(() => integerFlag("--jobs", 1, 64)("0"))).toContain("from 1 to 64");
});

it("parses durations, choices and lists, both comma-separated and repeated", async () => {
  expect(durationFlag("--max-wait")("1.5h")).toBe(5_400_000);
  expect(await problemOf(() => durationFlag("--max-wait")("90"))).toContain("such as 500ms, 90s");
  expect(choiceFlag("--mode", ["a", "b"])("b")).toBe("b");
  expect(await problemOf(() => choiceFlag("--mode", ["a", "b"])("c"))).toBe(
    '--mode is "c"; accepted is one of a, b',
  );
  expect(listFlag(" a, b,,c ", ["z"])).toEqual(["z", "a", "b", "c"]);
});

it("takes only days of the calendar", async () => {
  expect(dateFlag("2028-02-29")).toBe("2028-02-29");
  for (const text of ["2026-02-31", "2026-02-29", "2026-13-01", "2026-2-3", "today"])
    expect(await problemOf(() => dateFlag(text))).toBe(
      `--since is "${text}"; accepted is a day such as 2030-01-31`,
    );
});

const helpAt = (helpWidth: number): string =>
  new Command("judge")
    .option(
      "--ledger-key-file <file>",
      "file with the key of the ledger, instead of the variable that holds it",
    )
    .configureHelp({ ...narrowHelp, helpWidth })
    .helpInformation();

it("puts descriptions below their flags on a narrow terminal, and keeps to its width", () => {
  const lines = helpAt(40).split("\n");
  expect(lines).toContain("  --ledger-key-file <file>");
  expect(lines.filter((line) => line.length > 40)).toEqual([]);
});

it("keeps two columns where there is room", () => {
  expect(helpAt(80)).toContain("  --ledger-key-file <file>  file with the key of the ledger");
});
