import type { Action } from "./shared/context.ts";
import { runGate } from "./shared/gate-run.ts";
import { judgedRun } from "./shared/conclude.ts";
import { conformDocument } from "../reports/json/conform.ts";
import { gateDoc } from "../reports/document/gate.ts";
import type { conform as definition } from "./flags/gate.ts";
import { show } from "./shared/show.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName: program } = context;
  await judgedRun(
    context,
    flags,
    () => runGate(context, flags),
    (judged) => {
      const { detail } = output.manner();
      show(output, gateDoc(judged, { program, detail }), conformDocument(judged.record, judged.directory));
    },
  );
};
