import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** What a package.json says of the modules below it; "none" where it says nothing, or there is none. */
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

/** Whether a module in this folder can import the package of this name. */
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
 * The name under which a profile loads from this folder: TypeScript where it can import `defineProfile`, with the ending
 * that makes it a module whatever package.json says; else JSON.
 */
export const profileNameAt = (folder: string, canImport: boolean): (typeof profileNames)[number] => {
  const [ts, mts, json] = profileNames;
  if (!canImport) return json;
  return moduleTypeAt(folder) === "module" ? ts : mts;
};
