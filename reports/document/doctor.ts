import type { Check } from "../../conformance/contract/check.ts";
import { plural } from "../text/figures.ts";
import { doc, lines, mark, section, strong, soft, table, type Doc, type Look } from "./model.ts";

const lookOfCheck = ({ ok }: Check): Look => {
  if (ok === "skipped") return ["none", "dash"];
  return ok ? ["good", "check"] : ["bad", "cross"];
};

export const doctorDoc = (checks: readonly Check[], source = "the profile"): Doc => {
  const failed = checks.filter(({ ok }) => ok === false);
  return doc({
    title: `Preflight of ${source}`,
    look: failed.length === 0 ? ["good", "check"] : ["bad", "cross"],
    headline: headlineOf(checks, failed),
    sections: [
      section(
        "checks",
        "Checks",
        table(
          "Checks",
          ["Check", "Findings"],
          checks.map((one) => [
            mark(lookOfCheck(one), one.check),
            lines(
              one.message,
              one.remedy !== undefined && (one.ok === false ? strong : soft)(`→ ${one.remedy}`),
            ),
          ]),
        ),
      ),
    ],
    source,
  });
};

const headlineOf = (checks: readonly Check[], failed: readonly Check[]): string => {
  const skipped = checks.filter(({ ok }) => ok === "skipped").length;
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  if (failed.length === 0) return `Ready: ${plural(checks.length - skipped, "check")} passed${left}.`;
  const then = failed.some((check) => check.fatal !== undefined)
    ? "a run cannot start"
    : "some rules will not run";
  return `${plural(failed.length, "check")} of ${checks.length} failed${left}; ${then}.`;
};
