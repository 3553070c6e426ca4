import { createNearMisses, LEAST_LENGTH, type NearMisses } from "./near-misses.ts";
import { createOccurrences } from "./occurrences.ts";
import { isWord, pieceEnd } from "./pieces.ts";
import {
  encodedForms,
  encodedLengths,
  isPlain,
  plainIn,
  shiftedForms,
  writtenForms,
} from "./secret-forms.ts";

/** The kinds of secrets. Labels consist of these words only, so that a label is recognized anywhere. */
export const secretKinds = [
  "client secret",
  "code",
  "access token",
  "refresh token",
  "cookie",
  "profile value",
  "receiver token",
  "proxy password",
  "passphrase",
  "ledger key",
  "credential",
] as const;
export type SecretKind = (typeof secretKinds)[number];

const lasting: ReadonlySet<SecretKind> = new Set([
  "client secret",
  "profile value",
  "receiver token",
  "proxy password",
  "passphrase",
  "ledger key",
]);
/** Whether a kind is rare in a run and lives long; its values are also searched for inside words. */
export const isLasting = (kind: SecretKind): boolean => lasting.has(kind);
/** Kinds that a service issues while a run judges it. */
export const issuedKinds: readonly SecretKind[] = secretKinds.filter((kind) => !isLasting(kind));
/** Shorter values, other than client secrets, may be everyday words such as "true" in a header. */
const SHORTEST_INSIDE = 8;
/** Words as long as the encoded forms of shorter ones are too common to be decoded each time. */
const SHORTEST_DECODED = 16;

interface Known {
  readonly kind: SecretKind;
  readonly label: string;
  /** Whether this is the value as someone might write it, rather than an encoding of it. */
  readonly isWritten: boolean;
}

interface Found {
  readonly end: number;
  readonly entry: Known;
}

/** Finds known values and near misses in texts. */
export type SecretIndex = ReturnType<typeof createSecretIndex>;

/**
 * Maps forms of secrets to what is known about them. A form is found if a run of whole pieces spells it, so the cost of
 * searching grows with the text, not with the number of values.
 */
const createForms = () => {
  const known = new Map<string, Known>();
  /** Lengths of first pieces, the first pieces of forms with several, and the sizes of these, longest first. */
  const isLength: boolean[] = [];
  const firsts = new Set<string>();
  let sizes: readonly number[] = [];
  const isEncodedLength: boolean[] = [];
  /** What a whole text is known as. */
  const lookUp = (text: string): Known | undefined => {
    const entry = known.get(text);
    if (entry !== undefined || isEncodedLength[text.length] !== true) return entry;
    const value = isPlain(text) ? plainIn(text).find((plain) => known.has(plain)) : undefined;
    return value === undefined ? undefined : known.get(value);
  };
  /** The longest known value of several pieces. */
  const longerAt = (text: string, at: number, end: number): Found | undefined => {
    const ends = [end];
    for (const size of sizes) {
      while (ends.length < size && (ends.at(-1) ?? 0) < text.length)
        ends.push(pieceEnd(text, ends.at(-1) ?? 0));
      // If the text ends earlier, compare all that is left of it.
      const last = ends[Math.min(size, ends.length) - 1] ?? end;
      const entry = known.get(text.slice(at, last));
      if (entry !== undefined) return { end: last, entry };
    }
    return undefined;
  };
  return {
    known,
    lookUp,
    mayBegin: (length: number): boolean => isLength[length] === true,
    /** Has its encoded forms found by what they stand for: of credentials there are thousands, and few are ever sent encoded. */
    addEncoded: (value: string): void => {
      for (const length of encodedLengths(value)) isLength[length] = isEncodedLength[length] = true;
    },
    add: (form: string, entry: Known): void => {
      const earlier = known.get(form);
      // A form that is itself a secret stays that, even if it also encodes another one.
      if (earlier !== undefined && (earlier.isWritten || !entry.isWritten)) return;
      known.set(form, entry);
      const first = pieceEnd(form, 0);
      isLength[first] = true;
      if (first === form.length) return;
      firsts.add(form.slice(0, first));
      let size = 1;
      for (let at = first; at < form.length; at = pieceEnd(form, at)) size += 1;
      if (!sizes.includes(size)) sizes = [...sizes, size].toSorted((a, b) => b - a);
    },
    longestAt: (text: string, at: number, end: number): Found | undefined => {
      if (isLength[end - at] !== true) return undefined;
      const piece = text.slice(at, end);
      const longer = firsts.has(piece) ? longerAt(text, at, end) : undefined;
      if (longer !== undefined) return longer;
      const entry = lookUp(piece);
      return entry === undefined ? undefined : { end, entry };
    },
  };
};

/**
 * Probes append characters to long-lived secrets, and services embed them in longer texts that they encode, so these
 * are searched for everywhere.
 */
const addInside = (
  known: Map<string, Known>,
  glued: ReturnType<typeof createOccurrences>,
  value: string,
  entry: Known,
): void => {
  if (!isLasting(entry.kind) || (entry.kind !== "client secret" && value.length < SHORTEST_INSIDE)) return;
  for (const form of [...writtenForms(value), ...encodedForms(value), ...shiftedForms(value)]) {
    if (!known.has(form)) known.set(form, entry);
    glued.add(form);
  }
};

export const createSecretIndex = () => {
  const { known, lookUp, add, addEncoded, mayBegin, longestAt } = createForms();
  /** Values that are also searched for inside words. */
  const glued = createOccurrences();
  const counts = new Map<string, number>();
  const near = createNearMisses();

  const mayBe = (length: number): boolean => length >= LEAST_LENGTH || mayBegin(length);

  return {
    /** Whether the value is new. */
    add: (value: string, kind: SecretKind): boolean => {
      if (known.get(value)?.isWritten === true) return false;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const label = `‹${kind} ${count}›`;
      for (const form of writtenForms(value)) add(form, { kind, label, isWritten: true });
      if (value.length >= SHORTEST_DECODED && isPlain(value)) addEncoded(value);
      else for (const form of encodedForms(value)) add(form, { kind, label, isWritten: false });
      addInside(known, glued, value, { kind, label, isWritten: false });
      near.add(value, `‹nearly ${kind} ${count}›`);
      return true;
    },
    get: lookUp,
    isEmpty: (): boolean => known.size === 0,
    /** The values in the text that are also searched for inside words, longest first. */
    gluedIn: (text: string): readonly string[] => glued.of(text),
    /** Whether a piece of this length can start a known value, or nearly be one. Rules out most pieces quickly. */
    mayBe,
    /** The longest known value that starts with the piece from `at` to `end`, and where it ends. */
    longestAt,
    /** The label of the value that the piece from `at` to `end` nearly matches. */
    nearlyAt: (text: string, at: number, end: number): string | undefined => nearlyAt(near, text, at, end),
    /** The value that a word nearly is, and its label. */
    nearTo: (word: string) => near.find(word),
    /** The label of any value in the text, whatever its kind. */
    anyIn: (text: string): string | undefined => {
      const [inside] = glued.of(text);
      if (inside !== undefined) return known.get(inside)?.label;
      for (let at = 0, end = 0; at < text.length; at = end) {
        end = pieceEnd(text, at);
        if (!mayBe(end - at)) continue;
        const label = longestAt(text, at, end)?.entry.label;
        if (label !== undefined) return label;
        if (!isWord(text, at)) continue;
        const part = text.slice(at, end);
        const nearly =
          (near.mayBe(text, at, end) ? near.find(part)?.label : undefined) ?? near.findInside(part);
        if (nearly !== undefined) return nearly;
      }
      return undefined;
    },
  };
};

/** Probes send nearly correct secrets, which would reveal all but a character. */
const nearlyAt = (near: NearMisses, text: string, at: number, end: number): string | undefined => {
  if (!isWord(text, at)) return undefined;
  const found = near.mayBe(text, at, end) ? near.find(text.slice(at, end))?.label : undefined;
  // Repeated percent-encoding leaves hex digits attached to a word.
  if (found !== undefined || at < 3 || !text.startsWith("%25", at - 3)) return found;
  return near.find(text.slice(at, end).replace(/^(?:25)*[0-9A-Fa-f]{2}/, ""))?.label;
};
