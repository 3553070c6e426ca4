import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * The live page of the receiver: three files that hold no data. The page then asks the control interface, on
 * its own origin:
 *
 * - `GET /state` for the callback URL;
 * - `GET /pushes?after=N&wait=MS&limit=COUNT` for the lines, in order, `last` being the number of the newest
 *   line there is; a receiver that does not know `limit` may answer with more;
 * - `GET /journal` for the download.
 *
 * Where a token is needed these are asked with `Authorization: Bearer`; the page asks its reader for it.
 * The three files themselves may be served without one: a browser cannot send it with a navigation.
 */
export interface PageAnswer {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Nothing but the page's own files, no inline script or style, no markup made from strings, no frame. */
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

const commonHeaders = {
  "cache-control": "no-store",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const files = {
  "/": { name: "index.html", type: "text/html; charset=utf-8" },
  "/page.js": { name: "page.js", type: "text/javascript; charset=utf-8" },
  "/page.css": { name: "page.css", type: "text/css; charset=utf-8" },
  "/icon.svg": { name: "icon.svg", type: "image/svg+xml" },
} as const;

type PagePath = keyof typeof files;

const isPagePath = (path: string): path is PagePath => Object.hasOwn(files, path);

/** A checkout runs this source file; the package runs a bundle that has the page's built files beside it. */
const isCheckout = import.meta.url.endsWith(".ts");

const bundleScript = async (): Promise<string> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("browser/page.tsx", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2023",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
};

const read = (name: string): Promise<string> => {
  if (!isCheckout) return readFile(new URL(`receiver-page/${name}`, import.meta.url), "utf8");
  return name === "page.js" ? bundleScript() : readFile(new URL(name, import.meta.url), "utf8");
};

const loaded = new Map<string, Promise<string>>();

/** Each file is read, or bundled, at its first request and kept. */
const load = (name: string): Promise<string> => {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const body = read(name);
  loaded.set(name, body);
  body.catch(() => loaded.delete(name));
  return body;
};

/** What `GET` of this path (without its query) answers where it belongs to the page; undefined where it does not. */
export const answerPage = async (path: string): Promise<PageAnswer | undefined> => {
  if (!isPagePath(path)) return undefined;
  const { name, type } = files[path];
  return { status: 200, headers: { "content-type": type, ...commonHeaders }, body: await load(name) };
};
