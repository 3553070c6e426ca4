import { inertMarkdown } from "./inert.ts";

export interface Piece {
  readonly text: string;
  /** What the piece is part of; what is left out is counted by it. */
  readonly of: string;
  /** The lower, the sooner it gets its room. */
  readonly rank: number;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
const GAP = "\n\n";

/** As many pieces as there is room for, by their rank and in their order; a last line counts what was left out. */
export const fitted = (pieces: readonly Piece[], mostBytes: number): string => {
  let room = mostBytes - bytesOf(leftOut(pieces)) - GAP.length;
  const kept = new Set<Piece>();
  for (const piece of pieces.toSorted((a, b) => a.rank - b.rank)) {
    room -= bytesOf(piece.text) + GAP.length;
    if (room < 0) break;
    kept.add(piece);
  }
  return [
    ...pieces.filter((piece) => kept.has(piece)).map(({ text }) => text),
    leftOut(pieces.filter((piece) => !kept.has(piece))),
  ]
    .filter((text) => text !== "")
    .join(GAP);
};

const leftOut = (pieces: readonly Piece[]): string =>
  pieces.length === 0
    ? ""
    : `**Left out for want of room:** ${[...Map.groupBy(pieces, (piece) => piece.of)]
        .map(([of, members]) => `${members.length} of “${inertMarkdown(of)}”`)
        .join(", ")}. The run directory has everything.`;
