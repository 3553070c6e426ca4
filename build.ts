import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build, type BuildOptions } from "esbuild";

/*
 * `npm run build`: builds the package in dist/. Dependencies are bundled, so that an installation downloads little and
 * starts fast. typebox also stays a dependency, because
 * the types of profiles refer to it.
 */

const root = import.meta.dirname;
const out = "dist";
const common = { bundle: true, format: "esm", logLevel: "warning", metafile: true } as const;

const bundles: readonly BuildOptions[] = [
  {
    entryPoints: { cli: "cli.ts", profile: "conformance/contract/profile.ts" },
    splitting: true,
    platform: "node",
    target: "node22",
    external: ["esbuild"],
    // Its CommonJS edition would lose the export names, because it is imported at run time.
    alias: { "@peculiar/x509": "@peculiar/x509/build/x509.es.js" },
    outdir: out,
    // Bundled CommonJS loads Node's own modules with `require`.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
  },
  {
    entryPoints: ["browser/page.tsx", "page.css"].map((file) => ({
      in: `fake-server/receiver/page/${file}`,
      out: "page",
    })),
    minify: true,
    target: "es2023",
    outdir: `${out}/receiver-page`,
  },
  {
    entryPoints: ["scenarios/main.ts"],
    platform: "neutral",
    target: "es2022",
    external: ["k6", "k6/*"],
    outdir: `${out}/scenarios`,
  },
];

/** The package folder of a bundled file; undefined for our own files. */
const packageOf = (file: string): string | undefined =>
  /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];

/** The licences of all bundled packages, whose terms require them to be included. */
const licences = (files: readonly string[]): string => {
  const folders = new Set(files.flatMap((file) => packageOf(file) ?? []));
  return [...folders]
    .toSorted()
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(path.join(root, folder, "package.json"), "utf8"),
      ) as { name: string; version: string; license: string };
      const texts = readdirSync(path.join(root, folder))
        .filter((file) => /^(licen[cs]e|notice|copying)/i.test(file))
        .map((file) => readFileSync(path.join(root, folder, file), "utf8").trim());
      return [`${name} ${version} (${license})`, ...texts].join("\n\n");
    })
    .join(`\n\n${"-".repeat(80)}\n\n`);
};

const run = (...command: readonly string[]): void => {
  execFileSync(process.execPath, command, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
};

rmSync(path.join(root, out), { recursive: true, force: true });
const built = await Promise.all(
  bundles.map((bundle) => build({ ...common, ...bundle, absWorkingDir: root })),
);
const files = built.flatMap(({ metafile }) => Object.keys(metafile?.inputs ?? {}));
writeFileSync(path.join(root, out, "third-party-licences.txt"), `${licences(files)}\n`);
run("node_modules/typescript/bin/tsc", "-p", "conformance/contract");
run("dist/cli.js", "init", "--schema", "dist/profile.schema.json");
