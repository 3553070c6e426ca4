import type { DetectReport } from "../contract/detect.ts";
import { figure, runCli, seconds } from "../testing/measure.ts";

/** Measures detection at quick effort on all cores. */
export const detection = async (): Promise<void> => {
  const { wallMs, stdout } = await runCli(["detect", "--json", "--seed", "1"]);
  const { defects, variants } = JSON.parse(stdout) as DetectReport;
  figure("touchstone detect, quick effort", seconds(wallMs), "under 60 s");
  figure("seeded defects killed", `${defects.killed} of ${defects.total}`, "all");
  figure(
    "variants without a false alarm",
    `${variants.total - new Set(variants.falseAlarms.map(({ variant }) => variant)).size} of ${variants.total}`,
    "all",
  );
};
