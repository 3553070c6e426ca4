import { reportFiles, type ReportFormat } from "../../reports/formats.ts";
import type { CommandContext } from "./context.ts";

export interface PageFlags {
  readonly page?: true | undefined;
}

export interface RunPage {
  readonly watch: (directory: string) => void;
  readonly waiting: (what: string) => void;
  readonly end: (reports: readonly string[]) => Promise<void>;
}

/** Short, so that seconds arrive as evenly as they are recorded; a poll without news costs almost nothing. */
const LOOKS_MS = 200;

const noPage: RunPage = { watch: () => {}, waiting: () => {}, end: async () => {} };

export const openRunPage = async (
  { output, clock }: CommandContext,
  { page }: PageFlags,
): Promise<RunPage> => {
  if (page !== true) return noPage;
  // Few runs have a page, and its code is as large as a gate's.
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

/** A page ends as the HTML report, so it requires that report. */
export const withPageReport = <
  Flags extends PageFlags & { readonly report?: readonly ReportFormat[] | undefined },
>(
  flags: Flags,
) => ({
  ...flags,
  report: [...(flags.report ?? []), ...(flags.page === true ? (["html"] as const) : [])],
});
