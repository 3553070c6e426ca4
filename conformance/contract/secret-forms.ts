import { isWordCode } from "./pieces.ts";

/** Shorter pieces of an encoding would be found in unrelated texts. */
const SHORTEST_ENCODED = 8;

/** Only letters, digits, dashes and underscores. */
export const isPlain = (value: string): boolean => /^[\w-]+$/.test(value);

/**
 * A value as it is, in an address, in JSON (also nested), and in a web page. Other escapes are undone first, by
 * `unescaped`.
 */
export const writtenForms = (value: string): readonly string[] => {
  // All of these write such a value unchanged.
  if (isPlain(value)) return [value];
  const json = inJson(value);
  const percent = percentEncoded(value);
  return unique([
    value,
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    percent.replaceAll("%20", "+"),
    json,
    inJson(json),
    ...inPage(value),
  ]);
};

/** A value in base64, plain and URL-safe, and in hexadecimal, without padding. */
export const encodedForms = (value: string): readonly string[] => {
  const bytes = utf8.encode(value);
  let hex = "";
  for (const byte of bytes) hex += hexOf[byte];
  return longEnough([...base64Forms(base64(bytes)), hex, hex.toUpperCase()]);
};

/** How long the encoded forms of a plain value are. They are letters and digits alone, so that each is a word. */
export const encodedLengths = ({ length }: string): readonly number[] => [
  Math.ceil((length * 4) / 3),
  2 * length,
];

/** The plain value that a word is an encoded form of, if it is one of any. */
export const plainIn = (word: string): readonly string[] =>
  /^[0-9a-f]+$/i.test(word) ? [fromBase64(word), fromHex(word)] : [fromBase64(word)];

/**
 * The recognizable part of a value in the middle of a longer base64 text (as in the header of RFC 7617), or with every
 * byte percent-encoded.
 */
export const shiftedForms = (value: string): readonly string[] => {
  const bytes = utf8.encode(value);
  const cores = [0, 1, 2].flatMap((shift) => {
    const text = base64(new Uint8Array([...new Uint8Array(shift), ...bytes]));
    // Six bits per character: the first and last character also hold bits of the neighbours.
    return base64Forms(text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6)));
  });
  const percent = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  return longEnough([...cores, percent, percent.toUpperCase()]);
};

const utf8 = new TextEncoder();
const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

const unique = (forms: readonly string[]): readonly string[] => [...new Set(forms)];
const longEnough = (forms: readonly string[]): readonly string[] =>
  unique(forms).filter(({ length }) => length >= SHORTEST_ENCODED);

const inJson = (value: string): string => JSON.stringify(value).slice(1, -1);

/** Percent-encoded; a lone surrogate, which no address can carry, stays unchanged. */
const percentEncoded = (value: string): string => (value.isWellFormed() ? encodeURIComponent(value) : value);

const base64 = (bytes: Uint8Array): string => {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replace(/=+$/, "");
};

/** Base64 plain, URL-safe (RFC 4648 section 5), and percent-encoded. */
const base64Forms = (text: string): readonly string[] =>
  // All of these write letters and digits unchanged.
  /^[A-Za-z0-9]*$/.test(text)
    ? [text]
    : [text, text.replaceAll("+", "-").replaceAll("/", "_"), encodeURIComponent(text)];

/** HTML-escaped, with both spellings of a quote. */
const inPage = (value: string): readonly string[] => {
  const page = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return [
    page,
    page.replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
    page.replaceAll('"', "&#34;").replaceAll("'", "&#x27;"),
  ];
};

/**
 * Escapes that JSON and web pages allow but do not need: every writer escapes other characters, such as `=`, `+` and
 * letters beyond ASCII. In JSON however deep the text is quoted.
 */
const needless = /\\+(?:u([0-9a-f]{4})|(\/))|&#(?:x([0-9a-f]{2,5})|(\d{2,6}));/gi;

/** The text without such escapes; undefined if it has none. */
export const unescaped = (text: string): string | undefined => {
  if (!text.includes("\\") && !text.includes("&#")) return undefined;
  const plain = text.replaceAll(
    needless,
    (written: string, inJson?: string, slash?: string, page?: string, decimal?: string) => {
      const character = slash ?? String.fromCodePoint(Number(decimal ?? `0x${inJson ?? page}`));
      return character < " " || character === '"' || character === "\\" ? written : character;
    },
  );
  return plain === text ? undefined : plain;
};

/** Shorter runs cannot hold a secret. */
const SHORTEST_RUN = 16;

export interface EncodedRun {
  readonly at: number;
  readonly end: number;
  /** Whether it follows an escaped byte, so that it may continue what began before it. */
  readonly mayGoOn: boolean;
}

/**
 * Runs of characters that may encode a secret in base64 or hexadecimal. A run starts after an escaped byte of an
 * address, not within it.
 */
export const encodedRuns = (text: string): readonly EncodedRun[] => {
  const runs: EncodedRun[] = [];
  // A run that begins here or later has a character that far on, so most texts are stepped through.
  for (let at = SHORTEST_RUN - 1; at < text.length; at += SHORTEST_RUN) {
    if (!isRunCharacter(text, at)) continue;
    let first = at;
    while (first > 0 && isRunCharacter(text, first - 1)) first -= 1;
    while (at < text.length && isRunCharacter(text, at)) at += 1;
    const begin = text[first - 1] === "%" ? first + (/[0-9A-Fa-f]/.test(text.charAt(first)) ? 2 : 1) : first;
    if (at - begin >= SHORTEST_RUN) runs.push({ at: begin, end: at, mayGoOn: text[begin - 3] === "%" });
  }
  return runs;
};

const isRunCharacter = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return isWordCode(code) || code === 0x2b || code === 0x2f;
};

/** UUIDs are common in texts and encode nothing. */
export const isUuid = (run: string): boolean =>
  run.length === 36 && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(run);

/**
 * What a run may stand for, as a whole or as parts of a path. After an escaped byte, it may continue what began before
 * it, at any of its characters.
 */
export const decodings = (run: string, mayGoOn: boolean): readonly string[] => {
  const parts = run.includes("/") ? run.split("/").filter(({ length }) => length >= SHORTEST_RUN) : [];
  const later = mayGoOn ? [1, 2, 3].map((skipped) => run.slice(skipped)) : [];
  const texts = [run, ...parts, ...later].map(fromBase64);
  return /^(?:[0-9a-f]+|[0-9A-F]+)$/.test(run) ? [...texts, fromHex(run), fromHex(run.slice(1))] : texts;
};

const fromBase64 = (run: string): string => {
  const plain = run.replaceAll("-", "+").replaceAll("_", "/");
  // A single trailing character does not encode a byte.
  return atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
};

const fromHex = (digits: string): string =>
  (digits.match(/../g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16))).join("");
