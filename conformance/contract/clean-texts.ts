import { isWord, pieceEnd } from "./pieces.ts";
import { encodedRuns, isPlain, unescaped } from "./secret-forms.ts";
import { isLasting, type SecretKind } from "./secret-index.ts";

/** The longest word of what is remembered. */
const LONGEST_WORD = 13;
/** In a word that is shorter than half of a value, neither the value is found nor anything near it. */
const SHORTEST_HARMLESS = 2 * (LONGEST_WORD + 1);
/** Longer texts seldom come again. */
const LONGEST_TEXT = 128;
const MOST_TEXTS = 1_024;

/**
 * Remembers in what no value was found. Most texts of a run are the same few headers and paths, while nearly every answer
 * brings a new value; long drawn values are not found in short words, so they change nothing.
 */
export const createCleanTexts = () => {
  const texts = new Set<string>();
  const runs = new Set<string>();
  return {
    has: (text: string): boolean => texts.has(text),
    /** Remembers a text in which no value was found, if long drawn values will not be found in it either. */
    add: (text: string): void => {
      if (
        text.length <= LONGEST_TEXT &&
        hasShortWords(text) &&
        unescaped(text) === undefined &&
        encodedRuns(text).every(({ at, end, mayGoOn }) => !mayGoOn && runs.has(text.slice(at, end)))
      )
        remember(texts, text);
    },
    hasRun: (run: string): boolean => runs.has(run),
    /** The same for a run that may encode a value, and all that it stands for where it continues nothing. */
    addRun: (run: string, decoded: readonly string[]): void => {
      if (run.length <= LONGEST_TEXT && decoded.every(hasShortWords)) remember(runs, run);
    },
    /** Forgets all if this new value may be in any of it. */
    meet: (value: string, kind: SecretKind): void => {
      if (value.length >= SHORTEST_HARMLESS && isPlain(value) && !isLasting(kind)) return;
      texts.clear();
      runs.clear();
    },
  };
};

export type CleanTexts = ReturnType<typeof createCleanTexts>;

const remember = (clean: Set<string>, text: string): void => {
  if (clean.size >= MOST_TEXTS) clean.clear();
  clean.add(text);
};

const hasShortWords = (text: string): boolean => {
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = pieceEnd(text, at);
    if (end - at > LONGEST_WORD && isWord(text, at)) return false;
  }
  return true;
};
