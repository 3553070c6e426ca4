import os from "node:os";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";

export const machine = (): LoadRecord["machine"] => ({
  cores: os.availableParallelism(),
  processor: os.cpus()[0]?.model.trim() ?? "unknown",
  memoryMiB: Math.round(os.totalmem() / 1_048_576),
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
});

export const machineText = ({ cores, processor, memoryMiB, platform }: LoadRecord["machine"]): string =>
  `${cores} × ${processor}, ${Math.round(memoryMiB / 1_024)} GiB, ${platform}`;
