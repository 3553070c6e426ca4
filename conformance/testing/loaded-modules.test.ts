import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root, runCli } from "./measure.ts";
import { folderOfFile } from "./folders.ts";

const folder = folderOfFile();

let files = 0;
const newDirectory = (): string => path.join(folder, `run-${(files += 1)}`);

describe("the modules that a command loads", () => {
  /** Files of this repository and packages that a call loads, as V8's coverage lists them. */
  const loadedBy = async (...parameters: readonly string[]): Promise<readonly string[]> => {
    const coverage = newDirectory();
    // In CI, a gate writes reports by default.
    await runCli(parameters, { env: { NODE_V8_COVERAGE: coverage, CI: "" } });
    return readdirSync(coverage).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(path.join(coverage, file), "utf8")) as {
        result: readonly { readonly url: string }[];
      };
      return result
        .filter(({ url }) => url.startsWith(`file://${root}/`))
        .map(({ url }) => url.slice(`file://${root}/`.length));
    });
  };
  /** Files that help and mistakes do not need: the commands, the parts, and their dependencies. */
  const part =
    /^commands\/\w+\.ts$(?<!index\.ts|program\.ts)|^conformance\/(?!contract|record\/tool|checks\/effort)|^(fake-server|scenarios)\/|^reports\/(html|read)\/|^node_modules\/(typebox|fastify|undici)\//;
  const heavy =
    /^node_modules\/(fastify|undici|fast-check|preact|ajv|@peculiar)\/|^scenarios\/|^reports\/html\//;

  it.each([["--help"], ["conform", "--bogus"], ["load", "--rate", "x"]])(
    "exclude every part for help and mistakes: %s %s",
    async (...parameters) => {
      const loaded = await loadedBy(...parameters);
      expect(loaded).toContain("commands/flags/gate.ts");
      expect(loaded.filter((file) => part.test(file))).toEqual([]);
    },
  );

  it("exclude heavy packages for rules", async () => {
    const loaded = await loadedBy("rules");
    expect(loaded).toContain("commands/rules.ts");
    expect(loaded.filter((file) => heavy.test(file))).toEqual([]);
  });

  it("exclude k6's runner and report renderers for a gate without reports", async () => {
    const loaded = await loadedBy("conform", "--only", "exchange.no-store", "--out", newDirectory());
    expect(loaded.filter((file) => heavy.test(file))).not.toEqual([]);
    expect(loaded.filter((file) => /^(scenarios|reports\/(html|read))\//.test(file))).toEqual([]);
  });
});
