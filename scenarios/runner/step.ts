import { serviceRows, type BreakpointStep, type LoadRecord } from "../../conformance/contract/load-record.ts";
import { isHooksFault } from "./judge/abort.ts";
import { hasNoCpuToSpare } from "./judge/validity.ts";

export type JudgedLoad = Pick<
  LoadRecord,
  "rate" | "achieved" | "outcome" | "validity" | "objectives" | "rules" | "stopped" | "endpoints" | "notes"
>;

export const stepOf = (record: JudgedLoad): BreakpointStep => {
  const granted = serviceRows(record.endpoints).filter(({ outcome }) => outcome === "granted");
  const base = {
    rate: record.rate,
    achieved: record.achieved?.requestsPerSecond ?? 0,
    p95Ms: Object.fromEntries(granted.map(({ endpoint, response }) => [endpoint, response.p95Ms])),
  };
  const { outcome, validity, objectives, rules, stopped } = record;
  if (outcome === "passed") return { ...base, verdict: "held" };
  const gave = (gaveWay: "service" | "network", ...parts: readonly string[]): BreakpointStep => {
    const reason = parts.filter((part) => part !== "").join("; ");
    return { ...base, verdict: "gave way", gaveWay, reason };
  };
  // If the load generator fell behind, its measurements say nothing about the service.
  const spoilt = (reason: string): BreakpointStep => ({
    ...base,
    verdict: "spoilt",
    gaveWay: "load generator",
    reason,
  });
  const broken = rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
  if (broken.length > 0) return gave("service", broken.join(", "));
  if (stopped !== undefined) return isHooksFault(stopped) ? spoilt(stopped) : gave("service", stopped);
  const reasons = validity?.reasons ?? [];
  const told = reasons.map(({ reason }) => reason).join("; ");
  if (reasons.some(({ cause }) => cause === "load generator")) return spoilt(told);
  const missed = objectives.filter(({ verdict }) => verdict === "breached");
  const names = missed.map(({ name }) => name).join(", ");
  const isOpen = missed.some((one) => !isKeptByService(one, record));
  const machine = busyMachine(record);
  if (reasons.some(({ cause }) => cause === "network") && !isOpen)
    return gave("network", names, told, machine);
  const waited = "missed while requests waited for connections, though the service answered in time";
  if (missed.length > 0 && !isOpen) return gave("network", `${names} ${waited}`, machine);
  if (missed.length > 0 || reasons.length > 0) return gave("service", names, told, machine);
  return spoilt(record.notes[0] ?? "the step could not be judged");
};

/** Whether a percentile is missed only because of time before the request was sent. */
const isKeptByService = (
  { name, limit }: LoadRecord["objectives"][number],
  { endpoints }: Pick<LoadRecord, "endpoints">,
): boolean => {
  const [endpoint, percentile] = name.split(" ");
  const service = endpoints.find((row) => row.endpoint === endpoint && row.outcome === "granted")?.service;
  if (service === undefined || (percentile !== "p50" && percentile !== "p95" && percentile !== "p99"))
    return false;
  return service[`${percentile}Ms`] <= limit;
};

/** A service on the load generator's own machine may have been slow merely for lack of CPU. */
const busyMachine = ({ achieved }: Pick<LoadRecord, "achieved">): string =>
  hasNoCpuToSpare(achieved?.machineIdle) ? "the load generator's machine had no CPU to spare" : "";
