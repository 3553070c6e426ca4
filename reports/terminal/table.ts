import type { Page } from "./palette.ts";
import { indent, padEnd, padStart, widest } from "../text/layout.ts";

export interface Column {
  readonly align?: "left" | "right";
}

/** Rows of cells (coloured or not) as lines: columns as wide as their widest cell, two spaces apart. */
export const table = (rows: readonly (readonly string[])[], columns: readonly Column[] = []): string[] => {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, at) => widest(rows.map((row) => row[at] ?? "")));
  return rows.map((row) =>
    row
      .map((cell, at) =>
        columns[at]?.align === "right" ? padStart(cell, widths[at] ?? 0) : padEnd(cell, widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
};

/** Names with what is said of them beside, wrapped lines and all: `name  line`, then lines below it. */
export const definitions = (
  entries: readonly (readonly [name: string, lines: readonly string[]])[],
  nameWidth = widest(entries.map(([name]) => name)),
): string[] =>
  entries.flatMap(([name, lines]) =>
    (lines.length === 0 ? [""] : lines).map((line, at) =>
      `${padEnd(at === 0 ? name : "", nameWidth)}  ${line}`.trimEnd(),
    ),
  );

/** Lines under a title, moved in; nothing where there are none. */
export const section = (title: string, blocks: readonly (readonly string[])[], page: Page): string[] =>
  blocks.length === 0
    ? []
    : ["", page.palette.bold(title), ...blocks.flatMap((block) => ["", ...indent(block, 2)])];
