import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../measure.ts";
import { stepsOf } from "../pages/player.ts";
import { allPages, measuresOf, writtenPages } from "../pages/prose.ts";
import { commandsPage } from "./commands-page.ts";
import { exitCodesPage } from "./exit-codes-page.ts";
import { profilePage } from "./profile-page.ts";
import { rulesPage } from "./rules-page.ts";

/** Folder of the pages, from the root. */
export const folder = "docs/reference";

/** Every page that is made from the code, by file; mistakes.md is written by hand, and a test plays its rows. */
export const pages = (): Readonly<Record<string, string>> => ({
  "commands.md": commandsPage(),
  "profile.md": profilePage(),
  "rules.md": rulesPage(),
  "exit-codes.md": exitCodesPage(),
});

const measured = (name: string, of: typeof writtenPages): string => {
  const { words, meanSentence, longestParagraph } = measuresOf(of);
  const [mean, most] = [meanSentence.toFixed(1), longestParagraph];
  return `${name.padEnd(40)} ${String(words).padStart(6)} words, ${mean} in a sentence, ${most} in the longest paragraph`;
};

/** What no test plays, with the reason that stands in the page. */
const unplayed = (): readonly string[] =>
  writtenPages.flatMap(({ file, text }) =>
    stepsOf(text).flatMap((step) =>
      step.kind === "line" && step.manner === "parsed" ? [`${file}: ${step.text} (${step.reason})`] : [],
    ),
  );

// `npm run reference` writes the pages, and measures the others.
if (import.meta.main) {
  mkdirSync(path.join(root, folder), { recursive: true });
  for (const [name, text] of Object.entries(pages())) {
    writeFileSync(path.join(root, folder, name), text);
    process.stdout.write(`${path.join(folder, name)}\n`);
  }
  const lines = [
    ...allPages.map((page) => measured(page.file, [page])),
    measured("all that people write", writtenPages),
  ];
  process.stdout.write(`${[...lines, "Not played by tests:", ...unplayed()].join("\n")}\n`);
}
