import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { examples } from "../../../commands/flags/examples.ts";
import { root } from "../measure.ts";
import { definitions, parses } from "./commands-page.ts";
import { folder, pages } from "./pages.ts";
import { profileKeys } from "./profile-page.ts";
import { profileRefusals, refusalsBy } from "./exit-codes-page.ts";

test.each(Object.entries(pages()))("%s is what npm run reference writes", (name, text) => {
  expect(readFileSync(path.join(root, folder, name), "utf8")).toBe(text);
});

test("every command has examples, and every example is of an existing command", () => {
  const names = definitions.map((command) => command.name());
  expect(Object.keys(examples).toSorted()).toEqual(names.toSorted());
});

const lines = Object.values(examples).flatMap((all) => all.map(([line]) => line));

test.each(lines)("touchstone %s has arguments and flags as the command defines them", (line) => {
  expect(parses(line.split(" "))).toBe(true);
});

test("parses rejects a flag that a command lacks", () => {
  expect(parses(["rules", "--openapi"])).toBe(true);
  expect(parses(["rules", "--open-api"])).toBe(false);
});

test("every key of the profile has a description", () => {
  expect(profileKeys().filter(({ description }) => description === "")).toEqual([]);
  expect(profileKeys().map(({ key }) => key)).toEqual(
    expect.arrayContaining(["baseUrl", "clients[].secret", "slos.endpoints.list.p95Ms", "waivers[].expires"]),
  );
});

test("refusals are read from the code, with placeholders for their values", () => {
  const messages = refusalsBy("ConfigurationError", "WideFile").map(({ message }) => message);
  expect(messages).toContain("Port … is in use; give another one, or 0 for any free port");
  expect(messages.length).toBeGreaterThan(50);
  expect(refusalsBy("UnreachableError").length).toBeGreaterThan(0);
  expect(profileRefusals().length).toBeGreaterThan(3);
});
