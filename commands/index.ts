import type { Command, OptionValues } from "@commander-js/extra-typings";
import { compare } from "./flags/compare.ts";
import { conform } from "./flags/conform.ts";
import { detect } from "./flags/detect.ts";
import { doctor } from "./flags/doctor.ts";
import { duet } from "./flags/duet.ts";
import { exampleLines } from "./flags/examples.ts";
import { health } from "./flags/health.ts";
import { history } from "./flags/history.ts";
import { init } from "./flags/init.ts";
import { ledger } from "./flags/ledger.ts";
import { load } from "./flags/load.ts";
import { merge } from "./flags/merge.ts";
import { receive } from "./flags/receive.ts";
import { replay } from "./flags/replay.ts";
import { report } from "./flags/report.ts";
import { rules } from "./flags/rules.ts";
import { run } from "./flags/run.ts";
import { serve } from "./flags/serve.ts";
import type { CommandContext } from "./shared/context.ts";

/**
 * A command whose flags are defined immediately but which loads its code only when called, so that help and errors are
 * fast.
 */
const loading = <Arguments extends unknown[], Flags extends OptionValues>(
  definition: Command<Arguments, Flags>,
  load: (context: CommandContext) => Promise<{
    readonly run: (context: CommandContext, ...given: [...Arguments, Flags]) => Promise<void>;
  }>,
) => {
  definition.addHelpText("after", exampleLines(definition.name()));
  return (context: CommandContext) =>
    definition.action(async (...given) => {
      const { run } = await load(context);
      // Commander passes the command itself as the last argument.
      await run(context, ...(given.slice(0, -1) as [...Arguments, Flags]));
    });
};

const withSmallHeap =
  <Loaded>(load: () => Promise<Loaded>) =>
  (context: CommandContext): Promise<Loaded> => {
    context.keepHeapSmall();
    return load();
  };

export const commands = [
  loading(
    conform,
    withSmallHeap(() => import("./conform.ts")),
  ),
  loading(replay, () => import("./replay.ts")),
  loading(init, () => import("./init.ts")),
  loading(doctor, () => import("./doctor.ts")),
  loading(rules, () => import("./rules.ts")),
  loading(serve, () => import("./serve.ts")),
  loading(receive, () => import("./receive.ts")),
  loading(health, () => import("./health.ts")),
  loading(load, () => import("./load.ts")),
  loading(merge, () => import("./merge.ts")),
  loading(
    run,
    withSmallHeap(() => import("./run.ts")),
  ),
  loading(report, () => import("./report.ts")),
  loading(compare, () => import("./compare.ts")),
  loading(ledger, () => import("./ledger.ts")),
  loading(history, () => import("./history.ts")),
  loading(duet, () => import("./duet.ts")),
  loading(detect, () => import("./detect.ts")),
];
