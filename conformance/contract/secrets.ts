import { createNearMisses } from "./near-misses.ts";
import { decodings, encodedForms, encodedRuns, shiftedForms, writtenForms } from "./secret-forms.ts";

/** What is secret. Labels are made of these words alone, so that a label is known for one wherever it stands. */
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

/**
 * Knows every credential that a run has met and replaces it by a label wherever text
 * leaves the process. Labels keep identity ("code 3" is the same code everywhere) and
 * hide the value.
 */
export interface Secrets {
  /** Remembers a value; the first label that it was given stays. Values of less than four characters are no secrets. */
  readonly conceal: (value: string, kind: SecretKind) => void;
  /** The text with every known value replaced by its label. */
  readonly mask: (text: string) => string;
  /** Whether the text holds a known value of one of these kinds, and which label. */
  readonly find: (text: string, kinds: readonly SecretKind[]) => string | undefined;
}

/** Pieces that a text falls into: words, percent-encoded bytes, and every other character by itself. */
const pieces = /[A-Za-z0-9_-]+|%[0-9A-Fa-f]{2}|[^]/g;

/** Shorter values are not masked: they would be found in every other word. */
const SHORTEST = 4;

/** Text that is a label already: what is masked twice reads as if it had been masked once. */
const labels = new RegExp(`(‹(?:nearly |encoded )?(?:${secretKinds.join("|")}) \\d{1,7}›)`);

/** Of these there are few in a run, they live long, and they are looked for inside words too. */
const lasting: ReadonlySet<SecretKind> = new Set([
  "client secret",
  "profile value",
  "receiver token",
  "proxy password",
  "passphrase",
  "ledger key",
]);
/** Shorter ones of these, but for client secrets, are words of everyday language, such as "true" in a header. */
const SHORTEST_INSIDE = 8;

interface Known {
  readonly kind: SecretKind;
  readonly label: string;
  /** Whether the text is the value as somebody might write it, and not what an encoding makes of it. */
  readonly isWritten: boolean;
}

/**
 * A value is found where a run of whole pieces spells it, in any of its forms. So the cost of
 * looking grows with the text and not with the number of values, of which a long run has many.
 */
export const createSecrets = (): Secrets => {
  const known = new Map<string, Known>();
  /** First pieces of all values, and of how many pieces values are made, the longest first. */
  const firsts = new Set<string>();
  let sizes: readonly number[] = [];
  /** Values that are looked for inside words too, the longest first. */
  let glued: readonly string[] = [];
  const counts = new Map<string, number>();
  const near = createNearMisses();

  const add = (form: string, entry: Known): void => {
    const earlier = known.get(form);
    // What is a secret by itself is that first of all, even if it encodes another one.
    if (earlier !== undefined && (earlier.isWritten || !entry.isWritten)) return;
    known.set(form, entry);
    const parts = form.match(pieces) ?? [];
    firsts.add(parts[0] ?? "");
    if (!sizes.includes(parts.length)) sizes = [...sizes, parts.length].toSorted((a, b) => b - a);
  };

  /** Probes glue characters to what lasts, and services put it into longer texts that they encode: it is looked for everywhere. */
  const addInside = (value: string, entry: Known): void => {
    if (!lasting.has(entry.kind) || (entry.kind !== "client secret" && value.length < SHORTEST_INSIDE))
      return;
    const inside = [...writtenForms(value), ...encodedForms(value), ...shiftedForms(value)];
    for (const form of inside) if (!known.has(form)) known.set(form, entry);
    glued = [...new Set([...glued, ...inside])].toSorted((a, b) => b.length - a.length);
  };

  /** The longest known value that begins with this piece. */
  const longestAt = (parts: readonly string[], at: number): { size: number; entry: Known } | undefined => {
    if (!firsts.has(parts[at] ?? "")) return undefined;
    for (const size of sizes) {
      const entry = known.get(size === 1 ? (parts[at] ?? "") : parts.slice(at, at + size).join(""));
      if (entry !== undefined) return { size, entry };
    }
    return undefined;
  };

  /** The label of the value that a text holds, whatever its kind. */
  const anyIn = (text: string): string | undefined => {
    for (const value of glued) if (text.includes(value)) return known.get(value)?.label;
    const parts = text.match(pieces) ?? [];
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at] ?? "";
      const label = longestAt(parts, at)?.entry.label ?? near.find(part) ?? near.findInside(part);
      if (label !== undefined) return label;
    }
    return undefined;
  };

  /** Longer texts that were encoded with a secret in them go as a whole: what is left of them could be decoded. */
  const maskEncoded = (text: string): string =>
    text.replace(encodedRuns, (run, at: number) => {
      if (known.has(run)) return run;
      for (const decoded of decodings(run, text[at - 3] === "%")) {
        const label = anyIn(decoded);
        if (label !== undefined) return label.replace(/^‹(?:nearly )?/, "‹encoded ");
      }
      return run;
    });

  const maskInside = (text: string): string => {
    let masked = known.size === 0 ? text : betweenLabels(text, maskEncoded);
    for (const value of glued)
      if (masked.includes(value))
        masked = betweenLabels(masked, (part) =>
          part.replaceAll(value, () => known.get(value)?.label ?? "‹secret›"),
        );
    return betweenLabels(masked, maskWords);
  };

  /** What was percent-encoded more than once has the digits of a character glued to its words. */
  const nearAfterEscape = (before: string | undefined, part: string): string | undefined =>
    before === "%25" ? near.find(part.replace(/^(?:25)*[0-9A-Fa-f]{2}/, "")) : undefined;

  const maskWords = (text: string): string => {
    const parts = text.match(pieces) ?? [];
    const out: string[] = [];
    for (let at = 0; at < parts.length;) {
      const found = longestAt(parts, at);
      const part = parts[at] ?? "";
      // Probes send secrets nearly right, which would tell all of them but for a character.
      out.push(found?.entry.label ?? near.find(part) ?? nearAfterEscape(parts[at - 1], part) ?? part);
      at += found?.size ?? 1;
    }
    return out.join("");
  };

  return {
    conceal: (value, kind) => {
      if (value.length < SHORTEST || known.get(value)?.isWritten === true) return;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const label = `‹${kind} ${count}›`;
      for (const form of writtenForms(value)) add(form, { kind, label, isWritten: true });
      for (const form of encodedForms(value)) add(form, { kind, label, isWritten: false });
      addInside(value, { kind, label, isWritten: false });
      near.add(value, `‹nearly ${kind} ${count}›`);
    },
    mask: maskInside,
    find: (text, kinds) => {
      const parts = text.match(pieces) ?? [];
      for (let at = 0; at < parts.length; at += 1) {
        const found = longestAt(parts, at);
        if (found !== undefined && kinds.includes(found.entry.kind)) return found.entry.label;
      }
      for (const value of glued) {
        const entry = known.get(value);
        if (entry !== undefined && kinds.includes(entry.kind) && text.includes(value)) return entry.label;
      }
      return undefined;
    },
  };
};

/** Applies `change` to all of a text but the labels in it. */
const betweenLabels = (text: string, change: (part: string) => string): string =>
  text.includes("‹")
    ? text
        .split(labels)
        .map((part, index) => (index % 2 === 0 ? change(part) : part))
        .join("")
    : change(text);
