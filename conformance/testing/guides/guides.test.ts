import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { temporaryFolder } from "../temporary-folder.ts";
import { parses } from "../reference/commands-page.ts";
import { root } from "../measure.ts";
import { callsIn, stepsOf, wordsOf, type Step, play } from "./guide.ts";

const guides = path.join(root, "docs/guides");
const names = readdirSync(guides);
const stepsIn = (name: string): readonly Step[] => stepsOf(readFileSync(path.join(guides, name), "utf8"));

/** The content of a data file. */
const valueOf = (name: string, text: string): unknown => {
  if (name.endsWith(".json")) return JSON.parse(text);
  return name.endsWith(".yml") ? parse(text) : {};
};

/** Every line of a guide that calls Touchstone, those in its CI files too. */
const touchstoneLines = (name: string): readonly string[] =>
  stepsIn(name)
    .flatMap((step) => {
      if (step.kind === "line") return [step.text];
      return callsIn(valueOf(step.name, step.text)).map(({ command }) => command);
    })
    .filter((line) => line.startsWith("touchstone "));

describe.each(names)("%s", (name) => {
  // Lines marked `heavy` are played by npm run bench -- guides; those marked `parsed` need what no test has: a
  // registry, a service under libfaketime (bench/foreign/faketime.test.ts judges one), two builds, twenty minutes.
  it("runs line by line, except for what is marked as heavy or parsed", async () => {
    using folder = temporaryFolder();
    const played = await play(stepsIn(name), folder.path, ["played"]);
    expect(played.map(({ line, exitCode, said }) => ({ line, exitCode, said }))).toEqual(
      played.map(({ line, expected, said }) => ({ line, exitCode: expected, said })),
    );
  });

  it("calls commands with existing flags", () => {
    const lines = touchstoneLines(name);
    expect(lines).not.toEqual([]);
    expect(lines.filter((line) => !parses(wordsOf(line.replace(/ &$/, "")).slice(1)))).toEqual([]);
  });

  it("has files that are valid JSON or YAML according to their names", () => {
    const read = stepsIn(name).flatMap((step) =>
      step.kind === "file" ? [valueOf(step.name, step.text)] : [],
    );
    expect(read.map((value) => typeof value)).toEqual(read.map(() => "object"));
  });
});

it("guides use only declared inputs of the action and the component", () => {
  const text = (file: string) => readFileSync(path.join(root, file), "utf8");
  const [header] = parseAllDocuments(text("templates/touchstone.yml"));
  const declared: Readonly<Record<string, readonly string[]>> = {
    shell: [],
    action: Object.keys((parse(text("action.yml")) as { inputs: object }).inputs),
    component: Object.keys((header?.toJS() as { spec: { inputs: object } } | undefined)?.spec.inputs ?? {}),
  };
  const calls = names.flatMap((name) =>
    stepsIn(name).flatMap((step) => (step.kind === "file" ? callsIn(valueOf(step.name, step.text)) : [])),
  );
  expect(new Set(calls.map(({ by }) => by))).toEqual(new Set(["shell", "action", "component"]));
  expect(calls.filter(({ by, inputs }) => inputs.some((input) => !declared[by]?.includes(input)))).toEqual(
    [],
  );
});

const docs = path.join(root, "docs");
const inDocs = readdirSync(docs, { recursive: true, encoding: "utf8" });
const pages = inDocs.filter((file) => file.endsWith(".md"));

it("every page of the docs is linked from its index, and no link is broken", () => {
  const linksOf = (file: string) =>
    [...readFileSync(path.join(docs, file), "utf8").matchAll(/\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g)].map(
      ([, target = ""]) => path.join(path.dirname(file), target),
    );
  const broken = pages.flatMap((file) =>
    linksOf(file)
      .filter((target) => !target.startsWith("..") && !inDocs.includes(target))
      .map((target) => `${file} -> ${target}`),
  );
  expect(broken).toEqual([]);
  expect(pages.filter((file) => file !== "README.md" && !linksOf("README.md").includes(file))).toEqual([]);
});

/** The anchor that GitHub and GitLab make of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");

it("every link to a section of a page names a heading of that page", () => {
  const files = ["README.md", ...pages.map((file) => path.join("docs", file))];
  const textOf = (file: string) =>
    readFileSync(path.join(root, file), "utf8").replaceAll(/^```.*?^```/gms, "");
  const anchorsOf = (file: string) =>
    [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));
  const broken = files.flatMap((file) =>
    [...textOf(file).matchAll(/\]\((?!https?:)([^)#]*\.md)?#([^)]*)\)/g)]
      .filter(
        ([, page, anchor = ""]) =>
          !anchorsOf(page === undefined ? file : path.join(path.dirname(file), page)).includes(anchor),
      )
      .map(([link]) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});
