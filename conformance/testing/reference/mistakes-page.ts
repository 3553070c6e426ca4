import { code, page, table } from "./markdown.ts";
import { mistakes } from "./mistakes.ts";

export const mistakesPage = (): string =>
  page(
    "Mistakes and their answers",
    "What a command says to a mistake, and its exit code; a word in braces stands for a file, folder or address. Every line is made by a test.",
    [
      "Where a disk fills or is read-only while a run goes on, one line says so, the verdict is kept, and the exit code is the verdict's own, or 5 where it would have been 0. Ctrl-C ends every command in an orderly way with 130 and says what was kept; a second one ends it at once.",
      ...Object.entries(mistakes).flatMap(([title, rows]) => [
        `## ${title}`,
        table(
          ["mistake", "`touchstone ...`", "exit code", "answer"],
          rows.map(([mistake, line, says, exitCode = 2]) => [
            mistake,
            code(line),
            String(exitCode),
            says.replaceAll("<", "&lt;"),
          ]),
        ),
      ]),
    ],
  );
