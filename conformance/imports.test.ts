import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "..");
const parts = ["conformance", "fake-server", "scenarios", "reports"] as const;
/** What composes the parts. */
const composing = "commands";

interface Import {
  readonly from: string;
  readonly to: string;
}

const sources = (folder: string): string[] =>
  readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));

/** Relative imports of a file, as paths from the root of the repository. */
const importsOf = (file: string): Import[] =>
  [...readFileSync(path.join(root, file), "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    ([, target]) => ({
      from: file,
      to: path.join(path.dirname(file), target ?? ""),
    }),
  );

/** Tests, benchmarks and what only they use may look across. */
const isTestOnly = (file: string): boolean => /\.(test|bench)\.ts$|^conformance\/testing\//.test(file);

const inside = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);

const existing = parts.filter((part) => readdirSync(root).includes(part));
const shipped = [...existing, composing].flatMap(sources);
const imports = [...shipped, "cli.ts"].filter((file) => !isTestOnly(file)).flatMap(importsOf);

describe("imports run one way", () => {
  it("finds imports to look at", () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  it.each(existing)("%s imports of the other parts only conformance/contract", (part) => {
    const crossing = imports.filter(
      ({ from, to }) => inside(from, part) && !inside(to, part) && !inside(to, "conformance/contract"),
    );
    expect(crossing).toEqual([]);
  });

  it("conformance/contract imports nothing of this repository but itself, and nothing of Node", () => {
    const crossing = imports.filter(
      ({ from, to }) => inside(from, "conformance/contract") && !inside(to, "conformance/contract"),
    );
    const node = sources("conformance/contract").filter(
      (file) => !isTestOnly(file) && /from "node:/.test(readFileSync(path.join(root, file), "utf8")),
    );
    expect({ crossing, node }).toEqual({ crossing: [], node: [] });
  });

  it("no part imports what composes them", () => {
    const upwards = imports.filter(
      ({ from, to }) =>
        parts.some((part) => inside(from, part)) && (inside(to, composing) || to === "cli.ts"),
    );
    expect(upwards).toEqual([]);
  });

  it("only clocks touch time and chance", () => {
    const touching = [...shipped, "cli.ts"]
      .filter((file) => !isTestOnly(file) && path.basename(file) !== "clock.ts")
      .filter((file) =>
        /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bperformance\.now\(|\bset(Timeout|Interval)\(/.test(
          readFileSync(path.join(root, file), "utf8"),
        ),
      );
    expect(touching).toEqual([]);
  });

  it("tests are no part of what is shipped", () => {
    expect(imports.filter(({ to }) => isTestOnly(to))).toEqual([]);
  });
});
