import { mergeCounts, type SparseCounts } from "../judge/counts.ts";

/** Twice as many as the objectives use, so that halving leaves enough. */
const MOST = 120;

/**
 * Keeps the distributions of a run's seconds in bounded memory: when there are too many blocks of
 * time, neighbours become one, and from then on a block is twice as long.
 */
export const createBlocks = (): {
  readonly add: (second: SparseCounts) => void;
  readonly all: () => readonly SparseCounts[];
} => {
  let blocks: SparseCounts[] = [];
  let length = 1;
  let open: SparseCounts | undefined;
  let held = 0;
  return {
    add: (second) => {
      open = open === undefined ? second : mergeCounts(open, second);
      held += 1;
      if (held < length) return;
      blocks.push(open);
      [open, held] = [undefined, 0];
      if (blocks.length < MOST) return;
      blocks = Array.from({ length: MOST / 2 }, (_, at) =>
        mergeCounts(blocks[2 * at] ?? new Int32Array(), blocks[2 * at + 1] ?? new Int32Array()),
      );
      length *= 2;
    },
    all: () => [...blocks, ...(open === undefined ? [] : [open])],
  };
};
