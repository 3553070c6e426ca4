const wordCharacters = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
  wordCharacters[character.charCodeAt(0)] = 1;
const isWordCode = (code: number): boolean => code < 128 && wordCharacters[code] === 1;

const PERCENT = 0x25;
const BACKSLASH = 0x5c;
/** An escape of JSON, however deep it is quoted, or a byte of an address, however often it was encoded, or both at once. */
const escape = /(?:\\|%(?:25)*5C)+(?:["/bfnrt]|u[0-9A-F]{4})?|%(?:25)*[0-9A-F]{2}/iy;

/**
 * The end of the piece that starts at `at`. Pieces are words, escapes, and every other character by itself, so that
 * whatever surrounds a value is apart from it. Written by hand for speed, because every recorded text goes through it.
 */
export const pieceEnd = (text: string, at: number): number => {
  const code = text.charCodeAt(at);
  let end = at + 1;
  if (isWordCode(code)) {
    while (end < text.length && isWordCode(text.charCodeAt(end))) end += 1;
    return end;
  }
  if (code !== PERCENT && code !== BACKSLASH) return end;
  escape.lastIndex = at;
  return escape.test(text) ? escape.lastIndex : end;
};

export const piecesOf = (text: string): readonly string[] => {
  const pieces: string[] = [];
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = pieceEnd(text, at);
    pieces.push(text.slice(at, end));
  }
  return pieces;
};

/** Whether a text is one word. */
export const isWord = (text: string): boolean => /^[\w-]+$/.test(text);

/** A value as it is, in an address, and in JSON, also nested. Escapes that were not needed are undone by `unescaped`. */
export const writtenForms = (value: string): readonly string[] => {
  // All of these write such a value unchanged.
  if (isWord(value)) return [value];
  const json = inJson(value);
  // No address can carry a lone surrogate.
  const percent = value.isWellFormed() ? encodeURIComponent(value) : value;
  const small = percent.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  return [...new Set([value, percent, small, percent.replaceAll("%20", "+"), json, inJson(json)])];
};

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);

/** A value in base64, plain and URL-safe (RFC 4648 section 5), without padding. */
export const base64Forms = (value: string): readonly string[] => {
  let binary = "";
  for (const byte of new TextEncoder().encode(value)) binary += String.fromCharCode(byte);
  const text = btoa(binary).replace(/=+$/, "");
  return [...new Set([text, text.replaceAll("+", "-").replaceAll("/", "_")])];
};

/** The text without escapes that JSON allows but does not need: other writers escape `=`, `+` or `/`. */
export const unescaped = (text: string): string | undefined => {
  if (!text.includes("\\")) return undefined;
  const plain = text.replaceAll(/\\+(?:u([0-9a-f]{4})|(\/))/gi, (written, hex?: string, slash?: string) => {
    const character = slash ?? String.fromCharCode(Number(`0x${hex}`));
    return character < " " || character === '"' || character === "\\" ? written : character;
  });
  return plain === text ? undefined : plain;
};

/** Shorter runs are not decoded. */
export const SHORTEST_RUN = 16;
/** UUIDs are common in texts and encode nothing. */
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The text with each run of base64 characters replaced by what `change` makes of it. */
export const changeRuns = (text: string, change: (run: string) => string): string => {
  let changed = "";
  let copied = 0;
  // A run that begins here or later has a character that far on, so most texts are stepped through.
  for (let at = SHORTEST_RUN - 1; at < text.length; at += SHORTEST_RUN) {
    if (!isRunCharacter(text, at)) continue;
    let first = at;
    while (first > copied && isRunCharacter(text, first - 1)) first -= 1;
    while (at < text.length && isRunCharacter(text, at)) at += 1;
    const run = text.slice(first, at);
    if (run.length < SHORTEST_RUN || (run.length === 36 && uuid.test(run))) continue;
    const made = change(run);
    if (made === run) continue;
    changed += text.slice(copied, first) + made;
    copied = at;
  }
  return copied === 0 ? text : changed + text.slice(copied);
};

const isRunCharacter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return isWordCode(code) || code === 0x2b || code === 0x2f;
};

/** What runs of base64 may stand for, wherever in them it begins, if that can be read. */
export const decodings = (run: string): readonly string[] => {
  const plain = run.replaceAll("-", "+").replaceAll("_", "/");
  return [0, 1, 2, 3].flatMap((skipped) => {
    const text = plain.slice(skipped);
    // A single trailing character does not encode a byte.
    const binary = atob(text.length % 4 === 1 ? text.slice(0, -1) : text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
    const decoded = utf8.decode(bytes);
    return readable.test(decoded) ? [decoded] : [];
  });
};

const utf8 = new TextDecoder();
/** Random bytes seldom hold this many characters in a row. */
const readable = /[^\p{Cc}\ufffd]{6}/u;
