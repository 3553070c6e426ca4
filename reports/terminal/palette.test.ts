import { expect, it } from "vitest";
import { wantsColour } from "./palette.ts";

const terminal = { isTTY: true };
/** What Node gives for a pipe or a file: no such property. */
const pipe = {};

it.each([
  ["a terminal", {}, terminal, true],
  ["a pipe", {}, pipe, false],
  ["a pipe in a CI job", { CI: "true" }, pipe, false],
  ["a terminal that cannot", { TERM: "dumb" }, terminal, false],
  ["a terminal, NO_COLOR set", { NO_COLOR: "1" }, terminal, false],
  ["a terminal, NO_COLOR empty", { NO_COLOR: "" }, terminal, true],
  ["a pipe, FORCE_COLOR set", { FORCE_COLOR: "1" }, pipe, true],
  ["a terminal, FORCE_COLOR=0", { FORCE_COLOR: "0" }, terminal, false],
  ["a pipe, both set", { FORCE_COLOR: "1", NO_COLOR: "1" }, pipe, false],
])("%s", (_, environment, stream, coloured) => {
  expect(wantsColour(environment, stream)).toBe(coloured);
});
