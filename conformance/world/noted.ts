import type { CaseVerdict } from "../judging/case-verdict.ts";
import type { World } from "./world.ts";

type Noting = Pick<World, "evidence">;

/** Notes the exchanges that a case makes from now on; what it returns gives their numbers so far. */
export const notedFrom = ({ evidence }: Noting): (() => readonly number[]) => {
  const before = evidence.exchanges().length;
  return () => evidence.exchanges().slice(before);
};

/**
 * What `judge` says. If that is a breach, the exchanges made meanwhile show it, along with those that issued their
 * credentials: for judgements that nothing else the case did has to do with.
 */
export const shownAlone = async (world: Noting, judge: () => Promise<CaseVerdict>): Promise<CaseVerdict> => {
  const noted = notedFrom(world);
  const verdict = await judge();
  return verdict.kind === "failed" ? { shownBy: noted(), ...verdict } : verdict;
};
