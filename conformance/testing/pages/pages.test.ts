import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { isRequirementId } from "../../contract/catalogue.ts";
import { definitions, parses } from "../reference/commands-page.ts";
import { profileKeys } from "../reference/profile-page.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { root } from "../measure.ts";
import { callsOf, stepsOf, type Step, play } from "./player.ts";
import { allPages, measuresOf, unfenced, writtenPages, type Page } from "./prose.ts";

const textOf = (file: string): string => readFileSync(path.join(root, file), "utf8");

/** The content of a data file. */
const valueOf = (name: string, text: string): unknown => {
  if (name.endsWith(".json")) return JSON.parse(text);
  return name.endsWith(".yml") ? parse(text) : {};
};

/** The inputs of each step in a parsed CI file that uses our action for GitHub, or our component for GitLab. */
interface Use {
  readonly by: "action" | "component";
  readonly inputs: Readonly<Record<string, string>>;
}

const usesIn = (value: unknown): readonly Use[] => {
  if (typeof value !== "object" || value === null) return [];
  const { uses, with: given, component, inputs } = value as Readonly<Record<string, unknown>>;
  if (typeof uses === "string" && !uses.startsWith("actions/"))
    return [{ by: "action", inputs: given as Use["inputs"] }];
  if (typeof component === "string") return [{ by: "component", inputs: inputs as Use["inputs"] }];
  return Object.values(value).flatMap(usesIn);
};

const usesOf = (step: Step): readonly Use[] =>
  step.kind === "file" ? usesIn(valueOf(step.name, step.text)) : [];

/** Every call of Touchstone in a step, in its shell lines or by what uses it in CI. */
const callsIn = (step: Step): readonly (readonly string[])[] => [
  ...step.text.split("\n").flatMap(callsOf),
  ...usesOf(step).flatMap(({ inputs: { command = "run", profile = "none", args = "" } }) =>
    callsOf(`touchstone ${command} --profile ${profile} ${args}`),
  ),
];

const stepped = allPages
  .map(({ file, text }) => ({ file, steps: stepsOf(text) }))
  .filter(({ file, steps }) => steps.length > 0 && file !== "docs/reference/commands.md");

describe.each(stepped)("$file", ({ steps }) => {
  it("runs line by line, except for what is marked as heavy or parsed", async () => {
    using folder = temporaryFolder();
    const played = await play(steps, folder.path, ["played"]);
    expect(played.map(({ line, exitCode, said }) => ({ line, exitCode, said }))).toEqual(
      played.map(({ line, expected, said }) => ({ line, exitCode: expected, said })),
    );
  });

  it("gives the reason of every line that is only parsed", () => {
    const parsed = steps.filter((step) => step.kind === "line" && step.manner === "parsed");
    expect(parsed.filter((step) => step.kind === "line" && step.reason === "")).toEqual([]);
  });

  it("calls commands with existing flags", () => {
    expect(steps.flatMap(callsIn).filter((call) => !parses(call))).toEqual([]);
  });

  it("has files that are valid JSON or YAML according to their names", () => {
    const read = steps.flatMap((step) => (step.kind === "file" ? [valueOf(step.name, step.text)] : []));
    expect(read.map((value) => typeof value)).toEqual(read.map(() => "object"));
  });
});

it("pages use only declared inputs of the action and the component", () => {
  const [header] = parseAllDocuments(textOf("templates/touchstone.yml"));
  const declared: Readonly<Record<Use["by"], object>> = {
    action: (parse(textOf("action.yml")) as { inputs: object }).inputs,
    component: (header?.toJS() as { spec: { inputs: object } } | undefined)?.spec.inputs ?? {},
  };
  const uses = stepped.flatMap(({ steps }) => steps.flatMap(usesOf));
  expect(new Set(uses.map(({ by }) => by))).toEqual(new Set(["action", "component"]));
  expect(
    uses.filter(({ by, inputs }) => Object.keys(inputs).some((input) => !(input in declared[by]))),
  ).toEqual([]);
});

const spansOf = ({ text }: Page): readonly string[] =>
  [...unfenced(text).matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);

it("flags, scripts, keys and rules that a page names exist", () => {
  const flags = new Set(definitions.flatMap(({ options }) => options.map(({ long }) => long)));
  const keys = new Set(profileKeys().map(({ key }) => key));
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: object };
  const exists = (span: string): boolean => {
    const [, script] = /^npm run (?:--silent )?([\w-]+)/.exec(span) ?? [];
    if (script !== undefined) return script in scripts;
    if (/^(?:--|touchstone )/.test(span))
      return (span.match(/(?<!\S)--[a-z][\w-]*/g) ?? []).every((flag) => flags.has(flag));
    if (/^(?:hooks|limits|tolerances|concurrency|network|receiver|safety|slos|pins)\.[\w.]+$/.test(span))
      return keys.has(span);
    return (
      !/^(?:authorize|code|exchange|refresh|access|notifications|push|service|lifecycle)\.[a-z-]+$/.test(
        span,
      ) ||
      isRequirementId(span) ||
      keys.has(span)
    );
  };
  const unknown = writtenPages.flatMap((page) =>
    spansOf(page)
      .filter((span) => !exists(span))
      .map((span) => `${page.file}: ${span}`),
  );
  expect(unknown).toEqual([]);
});

it("files that the architecture names exist", () => {
  const named = spansOf({ file: "", text: textOf("ARCHITECTURE.md") }).filter((span) =>
    /^[a-z][\w-]*\/(?!NAME)\S+\.\w+$/.test(span),
  );
  const isThere = (file: string) => ["", "conformance"].some((at) => existsSync(path.join(root, at, file)));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((file) => !isThere(file))).toEqual([]);
});

it("pages that messages and files name exist", () => {
  const folders = "{.github,commands,conformance,deploy,fake-server,reports,scenarios,templates}";
  const named = globSync(`${folders}/**/*.{ts,yml,yaml}`, { cwd: root })
    .filter((file) => !file.includes("/testing/"))
    .flatMap((file) => textOf(file).match(/(?<![\w/])docs\/[\w/-]+\.md/g) ?? []);
  expect(named).not.toEqual([]);
  expect(named.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

/** The anchor that GitHub and GitLab make of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");

const anchorsOf = (file: string): readonly string[] =>
  [...unfenced(textOf(file)).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));

interface Link {
  readonly file: string;
  readonly target: string;
  readonly anchor: string | undefined;
}

const linksOf = ({ file, text }: Page): readonly Link[] =>
  [...unfenced(text).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)].map(([, target = "", anchor]) => ({
    file,
    target: target === "" ? file : path.join(path.dirname(file), target),
    anchor,
  }));

it("every link leads to a file, and to a heading of it", () => {
  const broken = allPages
    .flatMap(linksOf)
    .filter(
      ({ target, anchor }) =>
        !existsSync(path.join(root, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor)),
    );
  expect(broken).toEqual([]);
});

it("every page is linked from the index", () => {
  const linked = allPages
    .filter(({ file }) => file === "docs/README.md")
    .flatMap(linksOf)
    .map(({ target }) => target);
  expect(allPages.filter(({ file }) => file !== "docs/README.md" && !linked.includes(file))).toEqual([]);
});

it("the pages stay short, in short sentences", () => {
  const { words, meanSentence, longestParagraph } = measuresOf(writtenPages);
  expect(words).toBeLessThanOrEqual(20_000);
  expect(meanSentence).toBeLessThanOrEqual(15);
  expect(longestParagraph).toBeLessThanOrEqual(90);
  expect(textOf("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(90);
  const [, glossary = ""] = textOf("ARCHITECTURE.md").split("## Glossary");
  expect(glossary.match(/^\| (?!term|---)/gm)?.length).toBeLessThanOrEqual(25);
});
