import type { DetectReport } from "../conformance/contract/detect.ts";
import { endedCpuMs, figure, runCli, seconds } from "../conformance/testing/measure.ts";

/** Measures detection at quick effort on all cores. */
export const detection = async (): Promise<void> => {
  const spentMs = endedCpuMs();
  const { wallMs, stdout } = await runCli(["detect", "--json", "--seed", "1"]);
  // Its processes judge, and it waits for them: its own time says little.
  const cpuMs = endedCpuMs() - spentMs;
  const { defects, variants } = JSON.parse(stdout) as DetectReport;
  figure("touchstone detect, quick effort", seconds(wallMs), "under 60 s");
  figure("its CPU time, with that of its processes", seconds(cpuMs), "under 120 s");
  figure("seeded defects killed", `${defects.killed} of ${defects.total}`, "all");
  figure(
    "variants without a false alarm",
    `${variants.total - new Set(variants.falseAlarms.map(({ variant }) => variant)).size} of ${variants.total}`,
    "all",
  );
};
