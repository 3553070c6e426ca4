import { existsSync } from "node:fs";
import path from "node:path";
import { tool } from "../../conformance/record/tool.ts";
import { comparisonSuite } from "../../reports/ci/compared.ts";
import type { Comparison } from "../../reports/compare/index.ts";
import { storedComparison } from "../../reports/compare/stored.ts";
import { compareDoc } from "../../reports/document/compare.ts";
import type { ComparedFormat } from "../../reports/formats.ts";
import { writeDocument } from "../../reports/write.ts";

interface ComparedReports {
  readonly exitCode: number;
  readonly formats: readonly ComparedFormat[];
  readonly out: string;
  readonly pages?: Readonly<Record<"base" | "head", string>>;
}

const pageNames = { base: "base.html", head: "head.html" } as const;

/**
 * Writes a comparison with everything `report` needs to write it again, and returns its reports. Throws
 * ConfigurationError.
 */
export const writeComparison = (
  comparison: Comparison,
  { exitCode, formats, out, pages }: ComparedReports,
): readonly string[] => {
  const linked = (side: keyof typeof pageNames): string | undefined =>
    pages !== undefined || existsSync(path.join(out, pageNames[side])) ? pageNames[side] : undefined;
  return writeDocument(compareDoc(comparison), {
    page: compareDoc(comparison, { base: linked("base"), head: linked("head") }),
    name: "comparison",
    formats,
    out,
    suite: comparisonSuite(comparison, exitCode),
    beside: [
      storedComparison(out, { tool: tool.version, exitCode, comparison }),
      ...Object.entries(pages ?? {}).map(([side, text]) => [path.join(out, `${side}.html`), text] as const),
    ],
  });
};
