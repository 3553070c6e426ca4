export const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ").trim();

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

export const code = (text: string): string => `\`${text}\``;

/** A page of the reference, marked as generated. */
export const page = (title: string, lead: string, parts: readonly string[]): string =>
  `${[`# ${title}`, `${lead} Made from the code by \`npm run reference\`; a test keeps it current.`, ...parts]
    .filter((part) => part !== "")
    .join("\n\n")}\n`;
