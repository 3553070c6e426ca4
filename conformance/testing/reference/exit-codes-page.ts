import { exitCodeMeanings } from "../../contract/exit-codes.ts";
import { code, page, table } from "./markdown.ts";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseSync, type Node } from "oxc-parser";
import { root } from "../measure.ts";
import { sourcesIn } from "../import-graph.ts";
import { childrenOf } from "../../../bench/mutants/mutate.ts";

/** A refusal's message as in the code, with each value replaced by `…`. */
interface Refusal {
  readonly part: string;
  readonly message: string;
}

const FOLDERS = ["commands", "conformance", "fake-server", "reports", "scenarios"] as const;

/** Every node of a piece of code, itself included, in the order of the text. */
const nodesIn = (node: Node): readonly Node[] => [node, ...childrenOf(node).flatMap(nodesIn)];

const textOf = (file: string): string => readFileSync(path.join(root, file), "utf8");
const nodesOf = (file: string): readonly Node[] => nodesIn(parseSync(file, textOf(file)).program);

/** Every text that is a sentence, with `…` for each value in it. */
const sentencesIn = (nodes: readonly Node[]): readonly string[] =>
  nodes.flatMap(textsIn).filter((text) => /\w \w.* \w/.test(text));

const textsIn = (node: Node): readonly string[] => {
  if (node.type === "TemplateLiteral") return [node.quasis.map(({ value }) => value.cooked).join("…")];
  if (node.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  return childrenOf(node).flatMap(textsIn);
};

const shippedIn = (folder: string): readonly string[] =>
  sourcesIn(root, folder)
    .filter((file) => !/\.(test|bench)\.ts$|(^|\/)testing\//.test(file))
    .toSorted();

const unique = (all: readonly Refusal[]): readonly Refusal[] => [
  ...new Map(all.map((one) => [one.message, one])).values(),
];

/** The messages of errors with these names in shipped code, in the order of the files. */
export const refusalsBy = (...errors: readonly string[]): readonly Refusal[] =>
  unique(
    FOLDERS.flatMap((part) =>
      shippedIn(part)
        .filter((file) => errors.some((name) => textOf(file).includes(`new ${name}`)))
        .flatMap(nodesOf)
        .flatMap((node) =>
          node.type === "NewExpression" &&
          node.callee.type === "Identifier" &&
          errors.includes(node.callee.name)
            ? sentencesIn(node.arguments).map((message) => ({ part, message }))
            : [],
        ),
    ),
  );

/** What a check of the profile says: a key and its problem, or the whole text. */
const saidBy = (node: Node): readonly string[] => {
  if (node.type === "Property" && node.key.type === "Identifier" && node.key.name === "text")
    return ["Literal", "TemplateLiteral"].includes(node.value.type) ? sentencesIn([node.value]) : [];
  if (node.type !== "CallExpression") return [];
  const key = { problemAt: "… ", "problems.add": "…: " }[namesOf(node.callee).slice(-2).join(".")];
  return key === undefined ? [] : sentencesIn(node.arguments).map((text) => key + text);
};

const namesOf = (node: Node): readonly string[] => {
  if (node.type === "MemberExpression") return [...namesOf(node.object), ...namesOf(node.property)];
  return node.type === "Identifier" ? [node.name] : [];
};

/** What the checks of a profile say about its keys, beyond its schema. */
export const profileRefusals = (): readonly Refusal[] =>
  unique(
    shippedIn("conformance/profile")
      .flatMap(nodesOf)
      .flatMap(saidBy)
      .map((message) => ({ part: "profile", message })),
  );

const titles: Readonly<Record<string, string>> = {
  commands: "Flags and their combinations",
  profile: "The profile",
  conformance: "Runs, the ledger, files",
  "fake-server": "The fake and the receiver",
  reports: "Runs that are read",
  scenarios: "Loads",
};

const list = (refusals: readonly Refusal[]): string =>
  refusals.map(({ message }) => `- ${code(message.replaceAll("`", "'"))}`).join("\n");

const byPart = (refusals: readonly Refusal[]): readonly string[] =>
  Object.entries(titles).flatMap(([part, title]) => {
    const of = refusals.filter((one) => one.part === part);
    return of.length === 0 ? [] : [`### ${title}`, list(of)];
  });

export const exitCodesPage = (): string =>
  page(
    "Exit codes and error messages",
    "Every exit code, and the error messages that go with exit codes 2 and 4; `…` stands for a variable part.",
    [
      table(["exit code", "meaning"], Object.entries(exitCodeMeanings)),
      "For loads, duets and comparisons, 1 also means that an objective was missed or a build became slower, and 3 that a load run is invalid. If several codes apply, the worst one is used: a breach outweighs what could not be judged.",
      "## Messages with exit code 2",
      'A wrong value gets a message of the form `KEY is "VALUE"; accepted is WHAT IS ACCEPTED; REMEDY`. Mistakes in a profile get similar messages: `KEY is VALUE; it must be …`, `KEY has the unknown key "…"; accepted are …`, `KEY lacks the key "…"`. For an unknown flag or command, the message comes from the argument parser and refers to `--help`. All other messages:',
      ...byPart([...profileRefusals(), ...refusalsBy("ConfigurationError", "WideFile")]),
      "## Messages with exit code 4",
      list(refusalsBy("UnreachableError")),
    ],
  );
