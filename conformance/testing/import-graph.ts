import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** One file that imports another, including types; both as paths from the root of the repository. */
export interface Import {
  readonly from: string;
  readonly to: string;
}

export const written = ({ from, to }: Import): string => `${from} -> ${to}`;

/** TypeScript files below a folder, as paths from the root. */
export const sourcesIn = (root: string, folder: string): string[] =>
  readdirSync(path.join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));

/** Relative imports of a file: static, dynamic and types. */
export const importsOf = (root: string, file: string): Import[] =>
  [...readFileSync(path.join(root, file), "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+\.tsx?)"/g)].map(
    ([, target]) => ({ from: file, to: path.join(path.dirname(file), target ?? "") }),
  );

/**
 * Imports that lie on a cycle, checked folder by folder: each direct child of a folder, file or subfolder, is one unit.
 * Without cycles at any level there are none between files or between sibling folders, while a file may still be split
 * into a folder with its name.
 */
export const circular = (imports: readonly Import[]): readonly Import[] => {
  const levels = Map.groupBy(imports.map(placed), ({ level }) => level);
  return [...levels.values()].flatMap((edges) => {
    const targets = Map.groupBy(edges, ({ a }) => a);
    const from = (unit: string, seen = new Set<string>()): ReadonlySet<string> => {
      for (const { b } of targets.get(unit) ?? []) if (!seen.has(b)) from(b, seen.add(b));
      return seen;
    };
    const reached = new Map([...targets.keys()].map((unit) => [unit, from(unit)]));
    return edges.filter(({ a, b }) => a !== b && reached.get(b)?.has(a) === true).map(({ edge }) => edge);
  });
};

/** The lowest folder that contains both files, and the unit of each in it. */
const placed = (edge: Import) => {
  const from = edge.from.split("/");
  const to = edge.to.split("/");
  let depth = 0;
  while (depth < from.length - 1 && depth < to.length - 1 && from[depth] === to[depth]) depth += 1;
  return { level: from.slice(0, depth).join("/"), a: from[depth] ?? "", b: to[depth] ?? "", edge };
};
