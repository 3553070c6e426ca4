import type { BreakpointStep, LoadRecord } from "../../conformance/contract/load-record.ts";

export type JudgedLoad = Pick<
  LoadRecord,
  "rate" | "achieved" | "outcome" | "validity" | "objectives" | "rules" | "stopped" | "endpoints" | "notes"
>;

export const stepOf = (record: JudgedLoad): BreakpointStep => {
  const granted = record.endpoints.filter(
    ({ endpoint, outcome }) => outcome === "granted" && endpoint !== "trigger",
  );
  const base = {
    rate: record.rate,
    achieved: record.achieved?.requestsPerSecond ?? 0,
    p95Ms: Object.fromEntries(granted.map(({ endpoint, response }) => [endpoint, response.p95Ms])),
  };
  const { outcome, validity, objectives, rules, stopped } = record;
  if (outcome === "passed") return { ...base, verdict: "held" };
  const broken = rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
  if (broken.length > 0)
    return { ...base, verdict: "gave way", gaveWay: "service", reason: broken.join(", ") };
  if (stopped !== undefined) return { ...base, verdict: "gave way", gaveWay: "service", reason: stopped };
  const reasons = validity?.reasons ?? [];
  const told = reasons.map(({ reason }) => reason).join("; ");
  // If the load generator fell behind, its measurements say nothing about the service.
  if (reasons.some(({ cause }) => cause === "load generator"))
    return { ...base, verdict: "spoilt", gaveWay: "load generator", reason: told };
  const missed = objectives.filter(({ verdict }) => verdict === "breached");
  const names = missed.map(({ name }) => name).join(", ");
  const because = (...parts: readonly string[]): string =>
    [...parts, busyMachine(record)].filter((part) => part !== "").join("; ");
  const isOpen = missed.some((one) => !isKeptByService(one, record));
  if (reasons.some(({ cause }) => cause === "network") && !isOpen)
    return { ...base, verdict: "gave way", gaveWay: "network", reason: because(names, told) };
  if (missed.length > 0 && !isOpen)
    return {
      ...base,
      verdict: "gave way",
      gaveWay: "network",
      reason: because(
        `${names} missed while requests waited for connections, though the service answered in time`,
      ),
    };
  if (missed.length > 0 || reasons.length > 0)
    return { ...base, verdict: "gave way", gaveWay: "service", reason: because(names, told) };
  const [note = "the step could not be judged"] = record.notes;
  return { ...base, verdict: "spoilt", gaveWay: "load generator", reason: note };
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

const LEAST_IDLE = 0.05;

/** A service on the load generator's own machine may have been slow merely for lack of CPU. */
const busyMachine = ({ achieved }: Pick<LoadRecord, "achieved">): string =>
  (achieved?.machineIdle ?? 1) < LEAST_IDLE ? "the load generator's machine had no CPU to spare" : "";
