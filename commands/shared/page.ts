import { reportFiles, type ReportFormat } from "../../reports/formats.ts";
import type { CommandContext } from "./context.ts";

export interface RunPage {
  readonly watch: (directory: string) => void;
  readonly waiting: (what: string) => void;
  readonly end: (reports: readonly string[]) => Promise<void>;
}

/** Often, so that seconds come as evenly as they are recorded; a look that finds nothing costs next to nothing. */
const LOOKS_MS = 200;

export const noPage: RunPage = { watch: () => {}, waiting: () => {}, end: async () => {} };

export const openRunPage = async (
  { output, clock }: CommandContext,
  { page }: { readonly page?: true | undefined },
): Promise<RunPage> => {
  if (page !== true) return noPage;
  // Few runs have a page, and what it rests on is as large as a gate.
  const [{ serveLive }, { follow }, { runnerClock }] = await Promise.all([
    import("../../reports/live/serve.ts"),
    import("../../reports/live/follow.ts"),
    import("../../scenarios/runner/index.ts"),
  ]);
  const live = await serveLive(runnerClock);
  output.say(`Page     ${live.url}`);
  const looks: (() => void)[] = [];
  let told = "";
  const look = (): void => {
    for (const one of looks) one();
  };
  const stop = clock.every(LOOKS_MS, look);
  return {
    watch: (directory) => void looks.push(follow(directory, live.tell)),
    waiting: (what) => {
      if (what !== told) live.tell({ kind: "waiting", what });
      told = what;
    },
    end: async (reports) => {
      stop();
      look();
      await live.end(reports.find((file) => file.endsWith(reportFiles.html)));
    },
  };
};

/** A page ends as the HTML report, so that there has to be one. */
export const withPageReport = <
  Flags extends { readonly page?: true | undefined; readonly report?: readonly ReportFormat[] | undefined },
>(
  flags: Flags,
) => ({
  ...flags,
  report: [...(flags.report ?? []), ...(flags.page === true ? (["html"] as const) : [])],
});
