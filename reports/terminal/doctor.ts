import type { Check } from "../../conformance/contract/check.ts";
import { plural } from "../text/figures.ts";
import { indent, padEnd, widest, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page, type Palette } from "./palette.ts";

/** The preflight: a tick for what is in order, a remedy for what is not. */
export const renderDoctor = (checks: readonly Check[], options: Page): string => {
  const { palette, columns } = fitted(options);
  const nameWidth = Math.min(30, widest(checks.map(({ check }) => safe(check))));
  const lines = checks.flatMap((one) => {
    const [first = "", ...more] = wrap(safe(one.message), columns - nameWidth - 4);
    const beside = nameWidth + 4;
    const remedy = one.remedy === undefined ? [] : wrap(`→ ${safe(one.remedy)}`, columns - beside);
    return [
      `${symbolOf(one, palette)} ${padEnd(safe(one.check), nameWidth)}  ${first}`.trimEnd(),
      ...indent(more, beside),
      ...indent(remedy.map(one.ok === false ? palette.bold : palette.dim), beside),
    ];
  });
  return `${[...lines, "", summary(checks, palette)].join("\n")}\n`;
};

const symbolOf = ({ ok }: Check, palette: Palette): string => {
  if (ok === "skipped") return palette.dim("–");
  return ok ? palette.green("✓") : palette.red("✗");
};

const summary = (checks: readonly Check[], palette: Palette): string => {
  const failed = checks.filter(({ ok }) => ok === false);
  const skipped = checks.filter(({ ok }) => ok === "skipped").length;
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  if (failed.length === 0)
    return palette.green(`Ready: ${plural(checks.length - skipped, "check")} held${left}.`);
  const fatal = failed.some((check) => check.fatal !== undefined);
  return palette.red(
    `${plural(failed.length, "check")} of ${checks.length} failed${left}${fatal ? "; a run cannot begin like this" : "; some rules will not run"}.`,
  );
};
