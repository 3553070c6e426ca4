import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { pageStyle } from "../../../conformance/contract/page-style.ts";

/** Only the page's own files: no inline scripts or styles, no markup from strings, no frames. */
const headers = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  "x-content-type-options": "nosniff",
} as const;

const html = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width, initial-scale=1" />
  <title>Pushes · Touchstone receiver</title>
  <link rel="icon" href="data:," />
  <link rel="stylesheet" href="page.css" />
  <script type="module" src="page.js"></script>
</html>
`;

/** A checkout runs this source file; the package runs a bundle with the page's built files in a folder beside it. */
const isCheckout = import.meta.url.endsWith(".ts");
const fileOf = (name: string): URL => new URL(isCheckout ? name : `receiver-page/${name}`, import.meta.url);

const script = async (): Promise<string> => {
  if (!isCheckout) return readFile(fileOf("page.js"), "utf8");
  const { build } = await import("esbuild");
  const entryPoints = [fileURLToPath(fileOf("browser/page.tsx"))];
  const { outputFiles } = await build({ entryPoints, bundle: true, format: "esm", write: false });
  return outputFiles[0]?.text ?? "";
};

const files: ReadonlyMap<string, readonly [type: string, make: () => string | Promise<string>]> = new Map([
  ["/", ["text/html", () => html]],
  ["/page.js", ["text/javascript", script]],
  ["/page.css", ["text/css", async () => pageStyle + (await readFile(fileOf("page.css"), "utf8"))]],
]);

/** The page's file at a path without query, which holds no data; undefined if there is none. */
export const answerPage = async (path: string) => {
  const [type, make] = files.get(path) ?? [];
  if (make === undefined) return undefined;
  return { headers: { ...headers, "content-type": `${type}; charset=utf-8` }, body: await make() };
};
