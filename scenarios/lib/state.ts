import type { Random } from "./random.ts";

const lengths = { usual: 24, digits: 20 } as const;

/**
 * A state of letters and digits (section 2.1) that begins with the given digits, which identify the request: usually of
 * typical length, sometimes of maximum length, sometimes resembling a number.
 */
export const stateFrom = (random: Random, unique: string, mostBytes: number): string => {
  const drawn = random.below(8);
  if (drawn === 0) return unique.padStart(Math.min(lengths.digits, mostBytes), "0");
  const length = Math.min(mostBytes, drawn === 1 ? mostBytes : lengths.usual);
  return `${unique}Z${random.letters(length)}`.slice(0, Math.max(length, unique.length));
};
