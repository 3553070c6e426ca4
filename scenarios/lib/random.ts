import { stateCharacters } from "../../conformance/contract/forms.ts";
import { sfc32, uuidOf } from "../../conformance/contract/random.ts";

export type Random = ReturnType<typeof randomFrom>;

/** Choices for one purpose: the same key gives the same choices. */
export const randomFrom = (key: string) => {
  const uint32 = sfc32([fnv1a(key, 1), fnv1a(key, 2), fnv1a(key, 3), fnv1a(key, 4)], 12);
  const next = (): number => uint32() / 4_294_967_296;
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    /** From 0 (inclusive) to 1 (exclusive). */
    next,
    /** An integer from 0 (inclusive) to `bound` (exclusive). */
    below,
    /** Characters allowed in a state. */
    letters: (length: number): string => {
      let text = "";
      for (let at = 0; at < length; at += 1) text += stateCharacters.charAt(below(stateCharacters.length));
      return text;
    },
    /** A UUID formatted as version 4 (RFC 9562 section 5.4), with bits from the seed. */
    uuid: (): string => uuidOf(Array.from({ length: 32 }, () => below(16).toString(16)).join(""), 4),
  };
};

const fnv1a = (text: string, round: number): number => {
  let hash = (0x811c9dc5 ^ Math.imul(round, 0x9e3779b1)) | 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
};

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
