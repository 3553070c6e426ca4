import { integer } from "fast-check";

const [FIRST_HALF, HALVES, LAST] = [0xd800, 0x800, 0x10_ffff];

/** Every character except halves of pairs, as fast-check's own `binary`, which first makes a table of all of them, in seconds. */
export const anyCharacter = integer({ min: 0, max: LAST - HALVES }).map((index) =>
  String.fromCodePoint(index < FIRST_HALF ? index : index + HALVES),
);
