import type { Block, PlannedPair, Side } from "../../conformance/contract/duet.ts";
import { duetCases, duetVersion, type DuetDocument, usualRules, type DuetRules } from "./document.ts";
import { judgeDuet, whyEnded } from "./judge.ts";
import { seededRandom, type Random } from "../../conformance/contract/random.ts";

export interface DuetQuestion {
  readonly pairs: number;
  readonly seed: number;
}

export type DuetHeader = Pick<
  DuetDocument,
  "tool" | "startedAt" | "a" | "b" | "scenario" | "rate" | "blockMs" | "warmUpMs"
>;

interface SoFar {
  readonly blocks: readonly Block[];
  readonly broken: DuetDocument["broken"];
}

export const duetSession = ({ pairs, seed }: DuetQuestion, header: DuetHeader) => {
  const rules: DuetRules = { ...usualRules, pairs };
  return {
    schedule: scheduleOf(seededRandom(seed)),
    goesOn: (blocks: readonly Block[]): boolean => whyEnded(blocks, rules) === undefined,
    document: (state: DuetDocument["state"], { blocks, broken }: SoFar): DuetDocument => {
      const ended = whyEnded(blocks, rules);
      const result = judgeDuet(blocks, rules);
      return {
        version: duetVersion,
        command: "duet",
        state,
        ...header,
        seed,
        ...result,
        cases: duetCases({ ...result, state, broken }),
        ...(state === "ended" && ended !== undefined ? { ended } : {}),
        broken,
        blocks,
      };
    },
  };
};

/**
 * An endless sequence of block orders, one per pair; spoilt pairs are replaced by later ones. In each two consecutive
 * pairs, chance decides which begins with a and which with b, so that neither side gains from going first and a steady
 * drift of the machine favours neither.
 */
export function* scheduleOf(random: Random): Generator<PlannedPair, never> {
  for (let pair = 0; ; pair += 2) {
    const orders: readonly [Side, Side][] = [
      ["a", "b"],
      ["b", "a"],
    ];
    const turned = random() < 0.5 ? orders : orders.toReversed();
    for (const [at, order] of turned.entries()) yield { pair: pair + at, order };
  }
}
