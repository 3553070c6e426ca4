import { expect, it } from "vitest";
import { wantsColour } from "./palette.ts";

const terminal = { isTTY: true };
/** For a pipe or a file, Node does not set isTTY. */
const pipe = {};

it.each([
  ["a terminal", true, {}, terminal],
  ["a pipe", false, {}, pipe],
  ["a pipe in a CI job", false, { CI: "true" }, pipe],
  ["a terminal without colours", false, { TERM: "dumb" }, terminal],
  ["a terminal with NO_COLOR", false, { NO_COLOR: "1" }, terminal],
  ["a terminal with an empty NO_COLOR", true, { NO_COLOR: "" }, terminal],
  ["a pipe with FORCE_COLOR", true, { FORCE_COLOR: "1" }, pipe],
  ["a terminal with FORCE_COLOR=0", false, { FORCE_COLOR: "0" }, terminal],
  ["a pipe with FORCE_COLOR and NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, pipe],
])("on %s, colours are used: %s", (_, coloured, environment, stream) => {
  expect(wantsColour(environment, stream)).toBe(coloured);
});
