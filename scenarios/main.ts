import { epochMs } from "./lib/clock.ts";
import exec from "k6/execution";
import { sleep } from "k6";
import type { Options } from "k6/options";
import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import { iterate, setUpContext, type Scenario, type IterationContext, scenario } from "./lib/iteration.ts";
import { flushChecks, say, trouble } from "./lib/report.ts";
import { sendForSetUp } from "./lib/send.ts";
import { settings } from "./lib/settings.ts";
import { mixed } from "./mixed.ts";
import { notifications } from "./notifications.ts";
import { token } from "./token.ts";
import { executorFor } from "./stages.ts";
import { hasEvents, trigger } from "./lib/reading.ts";
import { inTurn } from "./lib/mix.ts";
import { newAccount } from "./lib/oracles/account.ts";
import { preflightEvents } from "./lib/preflight.ts";

/*
 * Events at a rate, one per iteration. The receiver sees the resulting pushes, and its plan makes a share of them fail;
 * the runner compares both. Accounts take turns, so that a load of a hundred events meets every kind of failure.
 */

const triggerEvent = (context: IterationContext): void => {
  if (!hasEvents) return;
  const account = inTurn(settings.accounts, exec.scenario.iterationInTest) ?? context.freshAccount();
  trigger(context.someClient(), newAccount(account));
};

const push = scenario({ preflight: preflightEvents, iteration: triggerEvent });

/* The script that k6 runs: one bundle for all scenarios, one of which the settings select. */

const scenarios: Readonly<Record<ScenarioName, Scenario>> = { token, notifications, mixed, push };
const played = scenarios[settings.scenario];
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
  tlsAuth: settings.clientCertificate === undefined ? [] : [settings.clientCertificate],
  discardResponseBodies: false,
  userAgent: "touchstone",
};

const setUp = (): unknown => {
  if (played.setUp === undefined) return undefined;
  sendForSetUp();
  const endsAtMs = epochMs() + SET_UP_MS;
  const isTimeUp = (): boolean => epochMs() >= endsAtMs;
  const data = played.setUp(setUpContext(), isTimeUp);
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
 * end: after busy-waiting for the last milliseconds, processes begin further apart.
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

export const preflight = (): void => iterate(played.preflight);

export default (data: unknown): void => iterate((context) => played.iteration(context, data));
