import type { Limits } from "../../conformance/contract/limits.ts";
import type { ScenarioName } from "../../conformance/contract/load-shape.ts";
import type { ShapeName } from "../stages.ts";
import type { ClientCertificate, FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import type { PushPorts } from "../../conformance/contract/push-ports.ts";
import type { ScriptClient } from "../protocol.ts";
import type { RunnerClock } from "./clock.ts";
import type { ClosedSecond } from "./collect/seconds.ts";
import type { FoundK6 } from "./k6/find.ts";
import type { K6OutputName } from "./k6/outputs.ts";
import type { SegmentPlan } from "./segment-plan.ts";

export interface LoadTarget {
  readonly name: string;
  readonly profile: FetchedProfile;
  readonly clients: readonly ScriptClient[];
  readonly clientCertificate?: ClientCertificate | undefined;
  readonly profiles: readonly string[];
  readonly behaviour?: string | undefined;
  readonly limits: Limits;
  readonly replacedLimits: readonly string[];
}

export interface LoadPlan {
  readonly scenario: ScenarioName;
  readonly shape: ShapeName;
  /** Requests per second at the peak. */
  readonly rate: number;
  readonly durationMs: number;
  /** Whole seconds. */
  readonly warmUpMs: number;
  readonly virtualUsers?: number | undefined;
  readonly seed: number;
  /** Plays only this part of the load while others play the rest. */
  readonly segment?: SegmentPlan | undefined;
  /** An additional destination of k6's metrics. */
  readonly k6Output?: K6OutputName | undefined;
  /** Tags that identify the run, kept in its record. */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** The target was just loaded in the same way, so the preflight is skipped. */
  readonly isKnown?: boolean | undefined;
}

export interface LoadContext {
  readonly target: LoadTarget;
  readonly k6: FoundK6;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: RunnerClock;
  readonly signal: AbortSignal;
  readonly tool: string;
  /** Random, and different in every run. */
  readonly runKey: string;
  readonly push?: PushPorts | undefined;
  /** Receives k6's own log, line by line, masked. */
  readonly onLog?: ((line: string) => void) | undefined;
  readonly onSecond?: (second: Pick<ClosedSecond, "line" | "latencies">) => void;
  /** Receives the address of k6's dashboard once it is up. */
  readonly onDashboard?: (address: string) => void;
  readonly onPhase?: (phase: string | undefined) => void;
}
