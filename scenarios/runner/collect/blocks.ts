import { mergeCounted, type Counted } from "../../../conformance/contract/distribution.ts";
import { inGroups } from "../../../conformance/contract/text.ts";

/** Twice the number that objectives use, so that enough remain after halving. */
const MOST = 120;

/**
 * Keeps the distributions of a run's seconds in bounded memory: when there are too many blocks of time, neighbours are
 * merged, and blocks become twice as long.
 */
export const createBlocks = () => {
  let blocks: Counted[] = [];
  let length = 1;
  let open: Counted | undefined;
  let held = 0;
  return {
    add: (second: Counted): void => {
      open = open === undefined ? second : mergeCounted([open, second]);
      held += 1;
      if (held < length) return;
      blocks.push(open);
      [open, held] = [undefined, 0];
      if (blocks.length < MOST) return;
      blocks = inGroups(blocks, 2).map(mergeCounted);
      length *= 2;
    },
    all: (): readonly Counted[] => [...blocks, ...(open === undefined ? [] : [open])],
  };
};
