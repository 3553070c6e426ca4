/** How a fenced line is tested: played in each test, played only by `npm run bench -- guides`, or only parsed. */
export type Manner = "played" | "heavy" | "parsed";

export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | {
      readonly kind: "line";
      readonly text: string;
      readonly manner: Manner;
      /** The exit code that the guide states; 0 if it states none. */
      readonly exitCode: number;
    };

const fence = /^```(\w+)(?: (\S+))?\n(.*?)^```$/gms;

/**
 * The steps of a guide: its files (fences with a name after the language) and the lines of its shell fences. `heavy` or
 * `parsed` after `sh` marks lines that are not played in each test; neither shows once rendered.
 */
export const stepsOf = (markdown: string): readonly Step[] =>
  [...markdown.matchAll(fence)].flatMap(([, language = "", more, text = ""]): readonly Step[] => {
    if (language === "sh") return linesOf(text, more === "heavy" || more === "parsed" ? more : "played");
    return more === undefined ? [] : [{ kind: "file", name: more, text }];
  });

const linesOf = (text: string, manner: Manner): readonly Step[] =>
  text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, command = line, code = "0"] = /^(.*?)\s+# exit code (\d+)$/.exec(line) ?? [];
      return { kind: "line", text: command, manner, exitCode: Number(code) };
    });

/** A call of Touchstone in a CI file: in a shell line, by our action for GitHub or by our component for GitLab. */
export interface CiCall {
  readonly by: "shell" | "action" | "component";
  readonly command: string;
  /** Names of the given inputs; none for a shell line. */
  readonly inputs: readonly string[];
}

type Inputs = Readonly<Record<string, string>>;

const callOf = (by: CiCall["by"], inputs: Inputs): CiCall => ({
  by,
  command: `touchstone ${inputs["command"] ?? "run"} --profile ${inputs["profile"] ?? "none"} ${inputs["args"] ?? ""}`,
  inputs: Object.keys(inputs),
});

/** Every call in a parsed CI file. */
export const callsIn = (value: unknown): readonly CiCall[] => {
  if (typeof value === "string") {
    const [, command] = /^npx touchstone-harness (.*)$/.exec(value) ?? [];
    return command === undefined ? [] : [{ by: "shell", command: `touchstone ${command}`, inputs: [] }];
  }
  if (typeof value !== "object" || value === null) return [];
  const { uses, with: given, component, inputs } = value as Readonly<Record<string, unknown>>;
  if (typeof uses === "string" && !uses.startsWith("actions/")) return [callOf("action", given as Inputs)];
  if (typeof component === "string") return [callOf("component", inputs as Inputs)];
  return Object.values(value).flatMap(callsIn);
};

/** The words of a shell line without expansions, respecting quotes. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:"[^"]*"|[^\s"]+)+/g)].map(([word]) => word.replaceAll('"', ""));
