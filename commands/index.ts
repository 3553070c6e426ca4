import type { Command, OptionValues } from "@commander-js/extra-typings";
import { exampleLines } from "./flags/examples.ts";
import { conform, detect, doctor, init, ledger, replay, rules } from "./flags/gate.ts";
import { duet, load, merge, run } from "./flags/load.ts";
import { compare, history, report } from "./flags/reports.ts";
import { health, receive, serve } from "./flags/services.ts";
import type { CommandContext } from "./shared/context.ts";

/**
 * A command whose flags are defined immediately but which loads its code only when called, so that help and errors are
 * fast.
 */
const loading = <Arguments extends unknown[], Flags extends OptionValues>(
  definition: Command<Arguments, Flags>,
  load: () => Promise<{
    readonly run: (context: CommandContext, ...given: [...Arguments, Flags]) => Promise<void>;
  }>,
) => {
  definition.addHelpText("after", exampleLines(definition.name()));
  return (context: CommandContext) =>
    definition.action(async (...given) => {
      const { run } = await load();
      // Commander passes the command itself as the last argument.
      await run(context, ...(given.slice(0, -1) as [...Arguments, Flags]));
    });
};

export const commands = [
  loading(conform, () => import("./conform.ts")),
  loading(replay, () => import("./replay.ts")),
  loading(init, () => import("./init.ts")),
  loading(doctor, () => import("./doctor.ts")),
  loading(rules, () => import("./rules.ts")),
  loading(serve, () => import("./serve.ts")),
  loading(receive, () => import("./receive.ts")),
  loading(health, () => import("./health.ts")),
  loading(load, () => import("./load.ts")),
  loading(merge, () => import("./merge.ts")),
  loading(run, () => import("./run.ts")),
  loading(report, () => import("./report.ts")),
  loading(compare, () => import("./compare.ts")),
  loading(ledger, () => import("./ledger.ts")),
  loading(history, () => import("./history.ts")),
  loading(duet, () => import("./duet.ts")),
  loading(detect, () => import("./detect.ts")),
];
