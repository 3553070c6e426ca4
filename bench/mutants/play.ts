import path from "node:path";
import { endingOf } from "../../commands/shared/output.ts";
import { startFakeProcess } from "../../fake-server/index.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import { conform } from "../../conformance/engine/conform.ts";
import { loadProfile } from "../../conformance/profile/profile.ts";
import { rules } from "../../conformance/rules/index.ts";
import { runOptions } from "../../conformance/testing/fake.ts";
import { root } from "../../conformance/testing/measure.ts";

/** How the gate ended on one service. */
export interface Played {
  /** undefined if it did not end in time. */
  readonly exitCode: number | undefined;
  /** The rule that was found broken first, and what was seen. */
  readonly broken?: string;
  readonly actual?: string;
  /** Rules without a verdict, with their reasons. */
  readonly open: readonly string[];
  readonly message?: string;
}

/** A gate ends within this time, in milliseconds, whatever the service does; otherwise it hangs. */
const HANGS_AFTER_MS = 900_000;
/** A service that turns in circles ends after this much processor time, in seconds. */
const PROCESSOR_SECONDS = 120;

/**
 * Judges the sound service by the whole gate at standard effort, until the first broken rule. The service is a process
 * of its own with these variables in its environment, so that it may crash or hang alone.
 */
export const play = async (variables: Readonly<Record<string, string>>): Promise<Played> => {
  const limited = ["sh", "-c", `ulimit -t ${PROCESSOR_SECONDS}; exec "$@"`, "sh"] as const;
  const environment = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const hook = path.join(import.meta.dirname, "one-mutant.ts");
  const program = [process.execPath, "--import", hook, path.join(root, "cli.ts")];
  const started = await startFakeProcess([...limited, "env", ...environment, ...program], "sound").catch(
    (error: unknown) => ({ message: String(error) }),
  );
  if ("message" in started) return { exitCode: 4, open: [], message: started.message };
  const receiver = await startReceiver();
  const over = new AbortController();
  let broken: RuleResult | undefined;
  const late = setTimeout(() => over.abort(), HANGS_AFTER_MS);
  try {
    const { exitCode, results } = await conform({
      ...runOptions(),
      resolved: await loadProfile([started.profileFile], process.env),
      receiver,
      rules,
      effort: "standard",
      stopAtBreach: true,
      signal: over.signal,
      onResult: (result) => {
        if (result.verdict.kind !== "failed" || broken !== undefined) return;
        broken = result;
        over.abort();
      },
    });
    if (broken?.verdict.kind === "failed")
      return { exitCode: 1, broken: broken.id, actual: broken.verdict.breach.actual, open: [] };
    return { exitCode: over.signal.aborted ? undefined : exitCode, open: results.flatMap(openOf) };
  } catch (error) {
    return { open: [], message: "", ...endingOf(error, false) };
  } finally {
    clearTimeout(late);
    await started.stop();
    await receiver.stop();
  }
};

const openOf = ({ id, verdict }: RuleResult): string[] =>
  ["passed", "observed", "not-applicable"].includes(verdict.kind)
    ? []
    : [
        `${id} ${verdict.kind}${"reason" in verdict ? `: ${verdict.reason}` : ""}${"message" in verdict ? `: ${verdict.message}` : ""}`,
      ];
