import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The module type in a folder's package.json; "none" if it has none, or there is no such file. */
export const moduleTypeAt = (folder: string): "module" | "commonjs" | "none" => {
  const file = path.join(folder, "package.json");
  if (existsSync(file)) {
    const type = typeOf(file);
    return type === "module" || type === "commonjs" ? type : "none";
  }
  const above = path.dirname(folder);
  return above === folder ? "none" : moduleTypeAt(above);
};

const typeOf = (file: string): unknown => {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { readonly type?: unknown }).type;
  } catch {
    return undefined;
  }
};

/** Whether a module in this folder can import the package with this name. */
export const isInstalledAt = (folder: string, name: string): boolean => {
  try {
    createRequire(path.join(folder, "profile.mjs")).resolve(name);
    return true;
  } catch {
    return false;
  }
};

export const profileNames = [
  "touchstone.config.ts",
  "touchstone.config.mts",
  "touchstone.config.json",
] as const;

/**
 * The file name with which a profile loads from this folder: TypeScript if it can import `defineProfile`, with the
 * extension that makes it a module whatever package.json says; otherwise JSON.
 */
export const profileNameAt = (folder: string, canImport: boolean): (typeof profileNames)[number] => {
  const [ts, mts, json] = profileNames;
  if (!canImport) return json;
  return moduleTypeAt(folder) === "module" ? ts : mts;
};
