import type { PlannedPair, Side } from "../../conformance/contract/duet.ts";
import type { Random } from "../../conformance/contract/random.ts";

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
