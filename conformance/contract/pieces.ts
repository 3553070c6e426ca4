const wordCharacters = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
  wordCharacters[character.charCodeAt(0)] = 1;

const PERCENT = 0x25;

/** Whether a character with this code belongs to words. */
export const isWordCode = (code: number): boolean => code < 128 && wordCharacters[code] === 1;

const isHexCode = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);

/** Whether the piece that starts here is a word. */
export const isWord = (text: string, at: number): boolean => isWordCode(text.charCodeAt(at));

/**
 * The end of the piece that starts at `at`. Pieces are words, percent-encoded bytes, and every other character by
 * itself. Hand-written for speed, because every recorded text goes through it.
 */
export const pieceEnd = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  let end = at + 1;
  if (isWordCode(code)) {
    while (end < text.length && isWordCode(text.charCodeAt(end))) end += 1;
    return end;
  }
  return code === PERCENT && isHexCode(text.charCodeAt(end)) && isHexCode(text.charCodeAt(end + 1))
    ? at + 3
    : end;
};
