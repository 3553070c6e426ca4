import type { LoadBreach, SecondLine } from "../../../conformance/contract/load-record.ts";
import type { GateBegan, HeatCells, LiveEvent, LoadBegan, RuleSettled } from "../protocol.ts";

/** Everything the page shows. */
export interface LiveState {
  readonly gate?: GateBegan;
  readonly load?: LoadBegan;
  readonly rules: readonly RuleSettled[];
  readonly seconds: readonly SecondLine[];
  /** By endpoint, then by second. */
  readonly heat: ReadonlyMap<string, ReadonlyMap<number, HeatCells>>;
  readonly breaches: readonly LoadBreach[];
  readonly waiting: string;
  readonly outcomes: Readonly<Partial<Record<"gate" | "load", string>>>;
  readonly ended: boolean;
  readonly hasReport: boolean;
}

export const nothing: LiveState = {
  rules: [],
  seconds: [],
  heat: new Map(),
  breaches: [],
  waiting: "",
  outcomes: {},
  ended: false,
  hasReport: false,
};

const MOST_BREACHES = 50;

/**
 * The state after more events. Growing collections are copied once per batch, because a page that connects late
 * receives thousands of events.
 */
export const after = (before: LiveState, events: readonly LiveEvent[]): LiveState => {
  const of = <Kind extends LiveEvent["kind"]>(kind: Kind) =>
    events.filter((event): event is Extract<LiveEvent, { kind: Kind }> => event.kind === kind);
  const state: LiveState = {
    ...before,
    rules: [...before.rules, ...of("rule")],
    seconds: [...before.seconds, ...of("second").map(({ line }) => line)],
    heat: withHeat(before.heat, of("heat")),
    breaches: [...before.breaches, ...of("breach").map(({ breach }) => breach)].slice(0, MOST_BREACHES),
  };
  return events.reduce(afterOne, state);
};

const withHeat = (before: LiveState["heat"], cells: readonly HeatCells[]): LiveState["heat"] => {
  if (cells.length === 0) return before;
  const heat = new Map([...before].map(([endpoint, points]) => [endpoint, new Map(points)]));
  for (const cell of cells) {
    const points = heat.get(cell.endpoint) ?? new Map<number, HeatCells>();
    heat.set(cell.endpoint, points.set(cell.second, cell));
  }
  return heat;
};

const afterOne = (state: LiveState, event: LiveEvent): LiveState => {
  switch (event.kind) {
    case "gate":
      return { ...state, gate: event };
    case "load":
      return { ...state, load: event, waiting: "" };
    case "waiting":
      return { ...state, waiting: event.what };
    case "outcome":
      return { ...state, outcomes: { ...state.outcomes, [event.of]: event.outcome } };
    case "end":
      return { ...state, ended: true, hasReport: event.report };
    default:
      return state;
  }
};
