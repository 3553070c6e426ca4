import { readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../measure.ts";
import { sourcesIn } from "../import-graph.ts";

/** A refusal's message as in the code, with each value replaced by `…`. */
export interface Refusal {
  readonly part: string;
  readonly message: string;
}

const FOLDERS = ["commands", "conformance", "fake-server", "reports", "scenarios"] as const;

/** The text between the parenthesis that opens at `start` and its closing one, respecting quotes and templates. */
const argumentsAt = (source: string, start: number): string => {
  let depth = 0;
  for (let at = start; at < source.length; at += 1) {
    const character = source[at] ?? "";
    if (character === '"' || character === "'" || character === "`") at = literalEnd(source, at);
    else if (character === "(") depth += 1;
    else if (character === ")" && (depth -= 1) === 0) return source.slice(start + 1, at);
  }
  return "";
};

/** The end of the literal that begins at `start`. */
const literalEnd = (source: string, start: number): number => {
  const quote = source[start];
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === quote) return at;
    else if (quote === "`" && source.startsWith("${", at)) at = braceEnd(source, at + 1);
  }
  return source.length;
};

const braceEnd = (source: string, start: number): number => {
  let depth = 0;
  for (let at = start; at < source.length; at += 1) {
    const character = source[at] ?? "";
    if (character === '"' || character === "'" || character === "`") at = literalEnd(source, at);
    else if (character === "{") depth += 1;
    else if (character === "}" && (depth -= 1) === 0) return at;
  }
  return source.length;
};

/** Every literal in a piece of code that is a sentence, with `…` for each `${}`. */
const sentencesIn = (source: string): readonly string[] => {
  const found: string[] = [];
  for (let at = 0; at < source.length; at += 1) {
    const quote = source[at];
    if (quote !== '"' && quote !== "`") continue;
    const end = literalEnd(source, at);
    found.push(plain(source.slice(at + 1, end)));
    at = end;
  }
  return found.filter((text) => /\w \w.* \w/.test(text));
};

const plain = (literal: string): string => {
  let text = "";
  for (let at = 0; at < literal.length; at += 1) {
    if (literal.startsWith("${", at)) {
      at = braceEnd(literal, at + 1);
      text += "…";
    } else if (literal[at] === "\\") at += 1;
    else text += literal[at];
  }
  return text;
};

const shippedIn = (folder: string): readonly string[] =>
  sourcesIn(root, folder)
    .filter((file) => !/\.(test|bench)\.ts$|(^|\/)testing\//.test(file))
    .toSorted();

const unique = (all: readonly Refusal[]): readonly Refusal[] => [
  ...new Map(all.map((one) => [one.message, one])).values(),
];

/** The messages of errors with these names (`A|B`) in shipped code, in the order of the files. */
export const refusalsBy = (errors: string): readonly Refusal[] =>
  unique(
    FOLDERS.flatMap((part) =>
      shippedIn(part).flatMap((file) => {
        const source = readFileSync(path.join(root, file), "utf8");
        return [...source.matchAll(new RegExp(`new (?:${errors})\\(`, "g"))].flatMap(({ index, 0: marker }) =>
          sentencesIn(argumentsAt(source, index + marker.length - 1)).map((message) => ({ part, message })),
        );
      }),
    ),
  );

/** How the profile's checks report what is wrong with a key, and how its name and the rest are joined. */
const ofKeys = [
  [/\bproblemAt\(/g, "… "],
  [/\bproblems\.add\(/g, "…: "],
] as const;

/** What the checks of a profile say about its keys, beyond its schema. */
export const profileRefusals = (): readonly Refusal[] =>
  unique(
    shippedIn("conformance/profile")
      .filter((file) => !file.endsWith("init-questions.ts"))
      .flatMap((file) => {
        const source = readFileSync(path.join(root, file), "utf8");
        const whole = [...source.matchAll(/\btext:\s*(?=["`])/g)].flatMap(({ index, 0: marker }) => {
          const start = index + marker.length;
          return sentencesIn(source.slice(start, literalEnd(source, start) + 1));
        });
        const said = ofKeys.flatMap(([call, key]) =>
          [...source.matchAll(call)].flatMap(({ index, 0: marker }) =>
            sentencesIn(argumentsAt(source, index + marker.length - 1)).map((text) => `${key}${text}`),
          ),
        );
        return [...whole, ...said].map((message) => ({ part: "profile", message }));
      }),
  );
