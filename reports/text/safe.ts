/**
 * Characters that a terminal acts on, or that hide or reorder what stands beside them: control
 * characters (ANSI escapes begin with one), format characters (bidirectional overrides, zero-width
 * spaces, tags), line and paragraph separators, and halves of surrogate pairs.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (character: string): string => {
  const point = character.codePointAt(0) ?? 0;
  const hex = point.toString(16);
  if (point <= 0xff) return named[character] ?? `\\x${hex.padStart(2, "0")}`;
  return point <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
};

/** A service's text as one line that can be printed anywhere: whatever acts on a terminal is shown escaped. */
export const safe = (text: string): string => text.replace(unsafe, escaped);
