import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { ClockReading, Merged, MergedMachine } from "../../conformance/contract/segments.ts";
import { plural, figure as number } from "../text/figures.ts";
import { latency, percent } from "../text/latency.ts";
import { code, facts, lines, mark, soft, table, text, type Block, type Table } from "./model.ts";

export const machineBlocks = ({ merged, segment }: LoadRecord): readonly (Block | undefined)[] => {
  if (merged !== undefined) return [summary(merged), machinesTable(merged)];
  if (segment === undefined) return [];
  return [
    facts([
      ["Segment", `${segment.index} of ${segment.count}`],
      ["Run", code(segment.runId)],
      ["Host", segment.host],
      ["Start", segment.startAt],
      segment.setUpMs !== undefined && ["Set-up", `took ${latency(segment.setUpMs)}`],
      ["The target’s clock less this one", lines(before(segment.clock.before), after(segment.clock.after))],
    ]),
  ];
};

const before = (reading: ClockReading | undefined): string => `before the load ${offset(reading)}`;
const after = (reading: ClockReading | undefined): string => `after the load ${offset(reading)}`;

const offset = (reading: ClockReading | undefined): string =>
  reading?.offsetMs === undefined
    ? `unknown: ${reading?.unknown ?? "not read"}`
    : `${number(Math.round(reading.offsetMs))} ± ${number(Math.ceil(reading.errorMs ?? 0))} ms`;

const summary = ({ machines, count, skewMs, skewErrorMs, worst }: Merged): Block => {
  const there = machines.filter(({ record }) => record !== undefined).length;
  const worstMachine = machines.find(({ index }) => index === worst);
  return text(
    `${there === count ? "" : `${there} of `}${plural(count, "machine")} played the load`,
    skewMs === undefined
      ? "."
      : `, and began within ${number(Math.round(skewMs))} ± ${number(Math.ceil(skewErrorMs ?? 0))} ms of one another.`,
    worstMachine === undefined
      ? ""
      : ` The worst was that of segment ${worstMachine.index}${worstMachine.lagP99Ms === undefined ? "" : `, where one iteration in a hundred began ${latency(worstMachine.lagP99Ms)} late or more`}.`,
  );
};

const machinesTable = ({ machines }: Merged): Table | undefined =>
  table(
    "Machines",
    [">Segment", "Host", ">Arrivals", ">Of asked", ">Late, p99", ">Began", ">Drift", "Problems"],
    machines.map((machine) => [
      mark(machine.problems.length === 0 ? ["good", "check"] : ["open", "question"], String(machine.index)),
      lines(machine.host ?? "–", soft(machine.machine ?? "")),
      machine.arrivals === undefined ? "–" : number(machine.arrivals),
      shareOf(machine),
      machine.lagP99Ms === undefined ? "–" : latency(machine.lagP99Ms),
      begun(machine),
      machine.driftMs === undefined ? "unknown" : `${number(Math.round(machine.driftMs))} ms`,
      machine.problems.join("; "),
    ]),
  );

const shareOf = ({ arrivals, arrivalsAsked }: MergedMachine): string =>
  arrivals === undefined || arrivalsAsked === undefined || arrivalsAsked === 0
    ? "–"
    : percent(arrivals / arrivalsAsked);

const begun = ({ beganMs, beganErrorMs }: MergedMachine): string =>
  beganMs === undefined
    ? "unknown"
    : `${beganMs < 0 ? "−" : "+"}${number(Math.abs(Math.round(beganMs)))} ± ${number(Math.ceil(beganErrorMs ?? 0))} ms`;
