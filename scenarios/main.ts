import exec from "k6/execution";
import { sleep } from "k6";
import type { Options } from "k6/options";
import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import { iterate, setUpContext, type Scenario } from "./lib/iteration.ts";
import { flushChecks, say, trouble } from "./lib/report.ts";
import { sendForSetUp } from "./lib/send.ts";
import { settings } from "./lib/settings.ts";
import { mixed } from "./mixed.ts";
import { notifications } from "./notifications.ts";
import { push } from "./push.ts";
import { token } from "./token.ts";
import { executorFor } from "./lib/arrivals.ts";
import { epochMs } from "./lib/clock.ts";

/* The script that k6 runs: one bundle for all scenarios, one of which the settings select. */

const scenarios: Readonly<Record<ScenarioName, Scenario>> = { token, notifications, mixed, push };
const scenario = scenarios[settings.scenario];
const { segment } = settings;

/** A set-up begins nothing new after this time, because a slow service is no reason to play no load. */
const SET_UP_MS = 30_000;
/** What it has begun by then ends before this: two requests in a row, and their answers. */
const SET_UP_ENDS_MS = SET_UP_MS + 30_000 + 2 * settings.requestTimeoutMs;

/** Long enough for three tries of every step by every client. */
const once = {
  executor: "shared-iterations" as const,
  vus: 1,
  iterations: 1,
  maxDuration: `${60_000 + 15 * settings.clients.length * settings.requestTimeoutMs}ms`,
};

/**
 * Virtual users keep their connections, as clients do; concurrent requests use different connections over HTTP/1.1, and
 * one over HTTP/2.
 */
export const options: Options = {
  scenarios: {
    [settings.scenario]: settings.preflight
      ? { ...once, exec: "preflight" }
      : executorFor(settings.stages, settings.virtualUsers, settings.gracefulStopMs),
  },
  // Timeout of a scenario's set-up and of the following wait for other segments.
  setupTimeout: `${SET_UP_ENDS_MS + Math.max(0, (segment?.startAtMs ?? 0) - epochMs())}ms`,
  maxRedirects: 0,
  insecureSkipTLSVerify: false,
  discardResponseBodies: false,
  userAgent: "touchstone",
};

const setUp = (): unknown => {
  if (scenario.setUp === undefined) return undefined;
  sendForSetUp();
  const endsAtMs = epochMs() + SET_UP_MS;
  const isTimeUp = (): boolean => epochMs() >= endsAtMs;
  const data = scenario.setUp(setUpContext(), isTimeUp);
  if (isTimeUp())
    trouble(
      `the service answered so slowly that the set-up took its ${SET_UP_MS / 1_000} s, and the load began with what was there by then`,
    );
  flushChecks();
  return data;
};

/**
 * Runs the set-up, then waits for the common start of all segments; k6 begins immediately after. If the set-up takes
 * longer, the run ends before any load, because a segment that starts late does not fit the others. Sleeps until the
 * end: after busy-waiting for the last milliseconds, processes begin further apart (docs/figures.md).
 */
export const setup = (): unknown => {
  const beganAtMs = epochMs();
  const data = setUp();
  if (segment === undefined || settings.preflight) return data;
  const doneAtMs = epochMs();
  const leftMs = segment.startAtMs - doneAtMs;
  say({ kind: "set-up", tookMs: doneAtMs - beganAtMs, lateMs: -leftMs });
  if (leftMs < 0) exec.test.abort("the set-up outlasted the start");
  sleep(leftMs / 1_000);
  return data;
};

export const preflight = (): void => iterate(scenario.preflight);

export default (data: unknown): void => iterate((context) => scenario.iteration(context, data));
