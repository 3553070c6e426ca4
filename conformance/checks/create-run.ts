import { casesOf } from "./effort.ts";
import type { RunContext } from "./context.ts";
import { forEach } from "./list.ts";
import { observe, once } from "./once.ts";
import { forAll } from "./property.ts";
import type { Run } from "./rule.ts";
import { worstOf } from "./worst-of.ts";

export const createRun = (context: RunContext): Run => ({
  effort: context.effort,
  seed: context.seed,
  cases: (share, least) => casesOf(context.effort, share, least),
  forAll: forAll(context),
  forEach: forEach(context),
  once: once(context),
  observe: observe(context),
  all: joined,
});

const joined: Run["all"] = async (parts) => {
  const settled = await Promise.allSettled(parts.map(async (part) => part));
  const verdicts = settled.flatMap((part) => (part.status === "fulfilled" ? [part.value] : []));
  const thrown = settled.find((part) => part.status === "rejected");
  // A breach seen by one part stands, even if another part failed with an error.
  if (thrown === undefined || verdicts.some(({ kind }) => kind === "failed")) return worstOf(verdicts);
  throw thrown.reason;
};
