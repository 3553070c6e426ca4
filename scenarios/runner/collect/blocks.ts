import { mergeCells, type Cells } from "../judge/cells.ts";

/** Twice as many as the objectives look at: so that halving leaves enough. */
const MOST = 120;

/**
 * Keeps the distributions of a run's seconds in bounded memory: when there are too many blocks of
 * time, neighbours become one, and from then on a block is twice as long.
 */
export const createBlocks = (): {
  readonly add: (second: Cells) => void;
  readonly all: () => readonly Cells[];
} => {
  let blocks: Cells[] = [];
  let length = 1;
  let open: Cells[] = [];
  return {
    add: (second) => {
      open.push(second);
      if (open.length < length) return;
      blocks.push(open.length === 1 ? second : mergeCells(open));
      open = [];
      if (blocks.length < MOST) return;
      blocks = Array.from({ length: MOST / 2 }, (_, at) => mergeCells(blocks.slice(2 * at, 2 * at + 2)));
      length *= 2;
    },
    all: () => (open.length === 0 ? blocks : [...blocks, mergeCells(open)]),
  };
};
