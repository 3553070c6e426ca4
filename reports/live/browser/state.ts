import type { LoadBreach, SecondLine } from "../../../conformance/contract/load-record.ts";
import type { GateBegan, HeatCells, LiveEvent, LoadBegan, RuleSettled } from "../protocol.ts";

/** All that the page shows. */
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

/** The state after one more event. */
export const after = (state: LiveState, event: LiveEvent): LiveState => {
  switch (event.kind) {
    case "gate":
      return { ...state, gate: event };
    case "load":
      return { ...state, load: event, waiting: "" };
    case "rule":
      return { ...state, rules: [...state.rules, event] };
    case "second":
      return { ...state, seconds: [...state.seconds, event.line] };
    case "heat": {
      const heat = new Map(state.heat);
      heat.set(event.endpoint, new Map(heat.get(event.endpoint)).set(event.second, event));
      return { ...state, heat };
    }
    case "breach":
      return { ...state, breaches: [...state.breaches, event.breach].slice(0, MOST_BREACHES) };
    case "waiting":
      return { ...state, waiting: event.what };
    case "outcome":
      return { ...state, outcomes: { ...state.outcomes, [event.of]: event.outcome } };
    default:
      return { ...state, ended: true, hasReport: event.report };
  }
};
