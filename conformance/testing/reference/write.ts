import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { root } from "../measure.ts";
import { folder, pages } from "./pages.ts";

/** `npm run reference`: writes the pages. */
mkdirSync(path.join(root, folder), { recursive: true });
for (const [name, text] of Object.entries(pages())) {
  const file = path.join(folder, name);
  writeFileSync(path.join(root, file), text);
  process.stdout.write(`${file}\n`);
}
