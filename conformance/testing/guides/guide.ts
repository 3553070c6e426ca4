/** How a fenced line is looked at: played in each test, played by `npm run bench -- guides` alone, or read only. */
export type Manner = "played" | "heavy" | "parsed";

export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string }
  | {
      readonly kind: "line";
      readonly text: string;
      readonly manner: Manner;
      /** What the guide says the line ends with; 0 where it says nothing. */
      readonly exitCode: number;
    };

const fence = /^```(\w+)(?: (\S+))?\n(.*?)^```$/gms;

/**
 * The steps of a guide: its files (a fence with a name behind the language) and the lines of its shell fences. Behind
 * `sh` stands `heavy` or `parsed` where the lines are not played in each test; neither shows once rendered.
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

/** The commands of Touchstone in the `run:` and `script:` lines of a CI file. */
export const commandsIn = (yaml: string): readonly string[] =>
  [...yaml.matchAll(/^\s*- (?:run: )?npx touchstone-harness (.*)$/gm)].map(
    ([, command = ""]) => `touchstone ${command}`,
  );

/** The words of a shell line without expansions: quotes hold what they hold. */
export const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:"[^"]*"|[^\s"]+)+/g)].map(([word]) => word.replaceAll('"', ""));
