import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { circular, importsOf, sourcesIn, written, type Import } from "./import-graph.ts";
import { longest } from "./longest-first.ts";

const root = path.resolve(import.meta.dirname, "../..");
const parts = ["conformance", "fake-server", "scenarios", "reports"] as const;
/** Rooms that every part may import: promises as data, and the judgement of traces. */
const pure = ["conformance/contract", "conformance/judging"] as const;
/** What every part may import as well: how files are written. */
const shared = ["conformance/files"] as const;
/** The folder that composes the parts. */
const composing = "commands";

/** Rooms of conformance, lowest first: each may import those before it. */
const rooms = [
  "contract",
  "judging",
  "files",
  "world",
  "checks",
  "model",
  "arbitraries",
  "lifetimes",
  "pushes",
  "rules",
  "profile",
  "session",
  "record",
  "engine",
] as const;

/** Tests, benchmarks and what only they use may look across. */
const isTestOnly = (file: string): boolean => /\.test\.ts$|(^|\/)testing\/|^bench\//.test(file);

const inside = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);

const shipped = [...[...parts, composing].flatMap((folder) => sourcesIn(root, folder)), "cli.ts"].filter(
  (file) => !isTestOnly(file),
);
const imports = shipped.flatMap((file) => importsOf(root, file));

/** Imports that leave a folder for others than these. */
const leaving = (folder: string, ...others: readonly string[]): readonly Import[] =>
  imports.filter(
    ({ from, to }) => inside(from, folder) && ![folder, ...others].some((other) => inside(to, other)),
  );

const roomOf = (file: string): number =>
  inside(file, "conformance") ? rooms.findIndex((room) => room === file.split("/")[1]) : -1;

const isUpwards = ({ from, to }: Import): boolean => roomOf(from) !== -1 && roomOf(to) > roomOf(from);

describe("imports run one way", () => {
  it("there are imports to check", () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  it.each(parts)("%s imports only the shared rooms of other parts", (part) => {
    expect(leaving(part, ...pure, ...shared)).toEqual([]);
  });

  it.each([...pure, ...shared])("%s imports nothing of other parts but the contract", (folder) => {
    expect(leaving(folder, "conformance/contract")).toEqual([]);
  });

  it.each(pure)("%s imports nothing of Node", (folder) => {
    const node = shipped.filter(
      (file) => inside(file, folder) && /from "node:/.test(readFileSync(path.join(root, file), "utf8")),
    );
    expect(node).toEqual([]);
  });

  it("every file of conformance is in a known room", () => {
    expect(shipped.filter((file) => inside(file, "conformance") && roomOf(file) === -1)).toEqual([]);
  });

  it("rooms of conformance import only lower rooms", () => {
    expect(imports.filter(isUpwards).map(written)).toEqual([]);
  });

  it("no files and no folders form import cycles, types included", () => {
    expect(circular(imports).map(written)).toEqual([]);
  });

  it("no part imports commands/ or cli.ts", () => {
    const upwards = imports.filter(
      ({ from, to }) =>
        parts.some((part) => inside(from, part)) && (inside(to, composing) || to === "cli.ts"),
    );
    expect(upwards).toEqual([]);
  });

  it("only files named clock.ts use time and randomness", () => {
    const touching = shipped
      .filter((file) => path.basename(file) !== "clock.ts")
      .filter((file) =>
        /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bset(Timeout|Interval)\(/.test(
          readFileSync(path.join(root, file), "utf8"),
        ),
      );
    expect(touching).toEqual([]);
  });

  it("no shipped file imports test code", () => {
    expect(imports.filter(({ to }) => isTestOnly(to))).toEqual([]);
  });
});

describe("circular", () => {
  const edges = (...texts: readonly string[]): Import[] =>
    texts.map((text) => {
      const [from = "", to = ""] = text.split(" -> ");
      return { from, to };
    });

  it.each([
    ["two files", edges("a.ts -> b.ts", "b.ts -> a.ts"), 2],
    ["folders without a cycle of files", edges("a/1.ts -> b/1.ts", "b/2.ts -> a/2.ts"), 2],
    ["a file and the folder it is split into", edges("a.ts -> a/x.ts", "a/x.ts -> base.ts"), 0],
    [
      "files within an inner folder",
      edges("p/a/1.ts -> p/a/2.ts", "p/a/2.ts -> p/a/1.ts", "p/a/1.ts -> p/b.ts"),
      2,
    ],
  ])("finds the imports that form a cycle: %s", (_, given, expected) => {
    expect(circular(given)).toHaveLength(expected);
  });
});

it("every file that is listed to run first exists and is listed once", () => {
  expect(longest.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  expect(new Set(longest).size).toBe(longest.length);
});
