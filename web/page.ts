import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** A page served by Touchstone on loopback: index.html, a style and a script, and the files shared by all pages. */
export interface Page {
  /** The name of its style and its bundled script. */
  readonly name: string;
  /** Its source folder in a checkout. */
  readonly source: URL;
  /** Its script in the source folder. */
  readonly script: string;
  /** The folder of its built files in the package, beside the bundle. */
  readonly built: string;
}

export interface PageAnswer {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Only the page's own files: no inline scripts or styles, no markup from strings, no frames. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Headers of every answer to a page. */
export const pageHeaders = {
  "cache-control": "no-store",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/** A checkout runs this source file; the package runs a bundle with the pages' built files beside it. */
const isCheckout = import.meta.url.endsWith(".ts");

const bundled = async ({ source, script }: Page): Promise<string> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(script, source))],
    bundle: true,
    format: "esm",
    target: "es2023",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
};

const read = (page: Page, file: string, source: URL): Promise<string> => {
  if (!isCheckout) return readFile(new URL(`${page.built}/${file}`, import.meta.url), "utf8");
  return file === `${page.name}.js` ? bundled(page) : readFile(new URL(file, source), "utf8");
};

/**
 * Answers `GET` of a path (without query) with the page's file; undefined if the path is not the page's. Each file is
 * read or bundled on its first request, then kept. Rejects if a file cannot be read.
 */
export const answerPage = (page: Page): ((path: string) => Promise<PageAnswer | undefined>) => {
  const { name, source } = page;
  const shared = new URL(".", import.meta.url);
  const files = new Map<string, readonly [file: string, type: string, source: URL]>([
    ["/", ["index.html", "text/html; charset=utf-8", source]],
    [`/${name}.js`, [`${name}.js`, "text/javascript; charset=utf-8", source]],
    [`/${name}.css`, [`${name}.css`, "text/css; charset=utf-8", source]],
    ["/theme.css", ["theme.css", "text/css; charset=utf-8", shared]],
    ["/icon.svg", ["icon.svg", "image/svg+xml", shared]],
  ]);
  const loaded = new Map<string, Promise<string>>();
  const load = (file: string, from: URL): Promise<string> => {
    const known = loaded.get(file);
    if (known !== undefined) return known;
    const body = read(page, file, from);
    loaded.set(file, body);
    body.catch(() => loaded.delete(file));
    return body;
  };
  return async (path) => {
    const found = files.get(path);
    if (found === undefined) return undefined;
    const [file, type, from] = found;
    return { status: 200, headers: { "content-type": type, ...pageHeaders }, body: await load(file, from) };
  };
};
