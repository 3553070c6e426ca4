import { fittedTo, tardyReadings, type Fitted } from "../../../conformance/judging/pushes/fitted.ts";
import { readingsOf } from "../../../conformance/judging/pushes/readings.ts";
import { asPolled } from "../../../conformance/judging/pushes/schedule.ts";
import type { PushCase, PushTrace } from "../../../conformance/judging/pushes/trace.ts";
import { FAILING, failing, noted, notWatched, unlessLost, type Judged } from "./judged.ts";

const contradictionsOf = ({ fits }: Fitted) =>
  fits.flatMap(({ pushCase, fit }) =>
    fit.kind === "against" || fit.kind === "tardy" ? [{ pushCase, why: fit.why }] : [],
  );

const retriesOf = (pushCases: readonly PushCase[]): number =>
  pushCases.reduce((sum, { pushes }) => sum + Math.max(0, pushes.length - 1), 0);

/**
 * Against the reading with the fewest contradictions. Notifications that are late in the way of a sender that polls are
 * left open, as in the gate.
 */
export const scheduled = (trace: PushTrace): Judged => {
  const fitted = readingsOf(trace.limits).map((reading) => fittedTo(reading, trace));
  const [tardy] = tardyReadings(fitted, trace).filter(({ reading }) => reading.keepsCap);
  const [nearest] = fitted
    .filter(({ reading }) => reading.keepsCap)
    .toSorted((a, b) => contradictionsOf(a).length - contradictionsOf(b).length);
  const best = tardy ?? nearest;
  const against = best === undefined ? [] : contradictionsOf(best);
  const late = tardy === undefined ? [] : against;
  const expected = `pushes match one reading of the schedule (${best?.reading.name} fits best)`;
  const judged: Judged = {
    id: "push.schedule",
    checks: retriesOf(failing(trace)) - retriesOf(late.map(({ pushCase }) => pushCase)),
    broken:
      tardy === undefined ? against.map(({ pushCase, why }) => ({ pushCase, expected, actual: why })) : [],
    open: best?.fits.filter(({ fit }) => fit.kind === "vague").length ?? 0,
  };
  const unclear = noted(
    judged,
    FAILING,
    (were) => `${notWatched(were)}, or the times of the pushes are too imprecise`,
  );
  if (tardy === undefined) return unlessLost(unclear, FAILING, trace, (one) => retriesOf([one]));
  const why = `${asPolled(tardy)} (\`tolerances.latenessMs\` in the profile says how late)`;
  const told = noted(
    { ...unclear, open: late.length },
    FAILING,
    (were) => `${were} late and not judged: ${why}`,
  );
  return { ...told, open: unclear.open + late.length };
};
