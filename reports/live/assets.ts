import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Nothing but the page's own files, no inline script or style, no markup made from strings, no frame. */
const policy = [
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

export const commonHeaders = {
  "cache-control": "no-store",
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

const files: Readonly<Record<string, readonly [name: string, type: string]>> = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/live.js": ["live.js", "text/javascript; charset=utf-8"],
  "/live.css": ["live.css", "text/css; charset=utf-8"],
  "/icon.svg": ["icon.svg", "image/svg+xml"],
};

/** A checkout runs this source file; the package runs a bundle that has the page's built files beside it. */
const isCheckout = import.meta.url.endsWith(".ts");

const bundled = async (): Promise<string> => {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("browser/live.tsx", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2023",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
};

const read = (name: string): Promise<string> => {
  if (!isCheckout) return readFile(new URL(`live-page/${name}`, import.meta.url), "utf8");
  return name === "live.js" ? bundled() : readFile(new URL(name, import.meta.url), "utf8");
};

const loaded = new Map<string, Promise<string>>();

/** A file of the page, read or bundled at its first request; undefined for any other path. */
export const assetOf = async (
  path: string,
): Promise<{ readonly type: string; readonly body: string } | undefined> => {
  const file = Object.hasOwn(files, path) ? files[path] : undefined;
  if (file === undefined) return undefined;
  const [name, type] = file;
  const body = loaded.get(name) ?? read(name);
  loaded.set(name, body);
  body.catch(() => loaded.delete(name));
  return { type, body: await body };
};
