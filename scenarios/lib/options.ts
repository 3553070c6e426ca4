import type { Options } from "k6/options";
import type { ScriptSettings } from "../protocol.ts";
import { executorFor } from "./arrivals.ts";
import { epochMs } from "./clock.ts";

const SET_UP_MS = 60_000;

/**
 * k6's options for these settings. Virtual users keep their connections, as clients do; those of
 * requests that run at the same time are different ones over HTTP/1.1, and one over HTTP/2.
 */
export const optionsFor = (settings: ScriptSettings): Options => {
  const { preflight, stages, virtualUsers, gracefulStopMs, scenario, segment } = settings;
  return {
    scenarios: {
      [scenario]: preflight
        ? { executor: "shared-iterations", vus: 1, iterations: 1, exec: "preflight", maxDuration: "60s" }
        : executorFor(stages, virtualUsers, gracefulStopMs),
    },
    // How long the set-up of a scenario may take, and the wait for other segments after it.
    setupTimeout: `${SET_UP_MS + Math.max(0, (segment?.startAtMs ?? 0) - epochMs())}ms`,
    maxRedirects: 0,
    insecureSkipTLSVerify: false,
    discardResponseBodies: false,
    userAgent: "touchstone",
  };
};
