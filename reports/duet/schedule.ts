import type { PlannedPair, Side } from "../../conformance/contract/duet.ts";
import type { Random } from "../../conformance/contract/random.ts";

/**
 * The order of the two blocks of each pair, without end: a pair that was spoilt is replaced by the next
 * one. Of two neighbouring pairs one begins with a and the other with b, which one by chance: so neither
 * side gains by going first, and a machine that gets slower or faster evenly favours none.
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
