import { ConfigurationError } from "../conformance/contract/problem.ts";
import type { Action } from "./shared/context.ts";
import { runGate } from "./shared/gate-run.ts";
import { judgedRun } from "./shared/conclude.ts";
import { conformDocument } from "../reports/json/conform.ts";
import { gateDoc } from "../reports/document/gate.ts";
import type { conform as definition } from "./flags/gate.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName: program } = context;
  const { quiet } = output.manner();
  const verbose = flags.verbose === true;
  if (verbose && quiet)
    throw new ConfigurationError(["--verbose and --quiet contradict each other; remove one"]);
  await judgedRun(
    context,
    flags,
    () => runGate(context, flags),
    (judged) => {
      const detail = quiet ? "failures" : verbose ? "full" : "brief";
      show(output, gateDoc(judged, { program, detail }), conformDocument(judged.record, judged.directory));
    },
  );
};
