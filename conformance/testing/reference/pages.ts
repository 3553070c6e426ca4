import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../measure.ts";
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

// `npm run reference` writes the pages.
if (import.meta.main) {
  mkdirSync(path.join(root, folder), { recursive: true });
  for (const [name, text] of Object.entries(pages())) {
    writeFileSync(path.join(root, folder, name), text);
    process.stdout.write(`${path.join(folder, name)}\n`);
  }
}
