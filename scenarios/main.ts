import type { ScenarioName } from "../conformance/contract/load-shape.ts";
import { iterate, setUpContext } from "./lib/iteration.ts";
import { optionsFor } from "./lib/options.ts";
import { flushChecks } from "./lib/report.ts";
import type { Scenario } from "./lib/scenario.ts";
import { sendForSetUp } from "./lib/send.ts";
import { settings } from "./lib/settings.ts";
import { waitForStart } from "./lib/start.ts";
import { mixed } from "./mixed.ts";
import { notifications } from "./notifications.ts";
import { push } from "./push.ts";
import { token } from "./token.ts";

/* The script that k6 runs: one bundle for all scenarios, of which the settings name one. */

const scenarios: Readonly<Record<ScenarioName, Scenario>> = { token, notifications, mixed, push };
const scenario = scenarios[settings.scenario];

export const options = optionsFor(settings);

const setUp = (): unknown => {
  if (scenario.setUp === undefined) return undefined;
  sendForSetUp();
  const data = scenario.setUp(setUpContext());
  flushChecks();
  return data;
};

/** Runs in every segment, so that waiting for the others is its last act. */
export const setup = (): unknown => waitForStart(setUp);

export const preflight = (): void => iterate(scenario.preflight);

export default (data: unknown): void => iterate((context) => scenario.iteration(context, data));
