import { Command } from "@commander-js/extra-typings";
import { expect, it } from "vitest";
import { narrowHelp } from "./program.ts";

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
