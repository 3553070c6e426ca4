import type { Verification } from "../read/index.ts";
import { plural } from "../text/figures.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";

/** Whether run directories are as they were sealed, a line each, and what is not. */
export const renderVerified = (
  runs: readonly (Verification & { readonly run: string })[],
  { palette }: Page,
): string =>
  `${runs
    .flatMap((one) => {
      const run = safe(one.run);
      if (one.state === "intact")
        return [`${palette.green("✓")} ${run}: as it was sealed (${plural(one.files, "file")})`];
      if (one.state === "unsealed")
        return [`${palette.yellow("?")} ${run}: was never sealed, so that nothing tells whether it is whole`];
      return [
        `${palette.red("✗")} ${run}: altered since it was sealed`,
        ...one.alterations.map(({ file, change, detail }) => `    ${safe(file)}  ${change}: ${safe(detail)}`),
      ];
    })
    .join("\n")}\n`;
