import { createNearMisses } from "./near-misses.ts";

/**
 * Knows every credential that a run has met and replaces it by a label wherever text
 * leaves the process. Labels keep identity ("code 3" is the same code everywhere) and
 * hide the value.
 */
export interface Secrets {
  /** Remembers a value; the first label that it was given stays. Values of less than four characters are no secrets. */
  readonly conceal: (value: string, kind: string) => void;
  /** The text with every known value replaced by its label. */
  readonly mask: (text: string) => string;
  /** Whether the text holds a known value of one of these kinds, and which label. */
  readonly find: (text: string, kinds: readonly string[]) => string | undefined;
}

/** Pieces that a text falls into: words, percent-encoded bytes, and every other character by itself. */
const pieces = /[A-Za-z0-9_-]+|%[0-9A-Fa-f]{2}|[^]/g;

/** Shorter values are not masked: they would be found in every other word. */
const SHORTEST = 4;

interface Known {
  readonly kind: string;
  readonly label: string;
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
    known.set(form, entry);
    const parts = form.match(pieces) ?? [];
    firsts.add(parts[0] ?? "");
    if (!sizes.includes(parts.length)) sizes = [...sizes, parts.length].toSorted((a, b) => b - a);
    // Client secrets are few and live long, and probes glue characters to them: they are looked for everywhere.
    if (entry.kind === "client secret") glued = [...glued, form].toSorted((a, b) => b.length - a.length);
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

  return {
    conceal: (value, kind) => {
      if (value.length < SHORTEST || known.has(value)) return;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      for (const form of forms(value)) if (!known.has(form)) add(form, { kind, label: `‹${kind} ${count}›` });
      near.add(value, `‹nearly ${kind} ${count}›`);
    },
    mask: (text) => {
      let masked = text;
      for (const value of glued)
        if (masked.includes(value))
          masked = masked.replaceAll(value, () => known.get(value)?.label ?? "‹secret›");
      const parts = masked.match(pieces) ?? [];
      const out: string[] = [];
      for (let at = 0; at < parts.length;) {
        const found = longestAt(parts, at);
        const part = parts[at] ?? "";
        // Probes send secrets nearly right, which would tell all of them but for a character.
        out.push(found?.entry.label ?? near.find(part) ?? part);
        at += found?.size ?? 1;
      }
      return out.join("");
    },
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

/** A value as it is, in an address, and in a JSON text: as JavaScript writes it, with escaped slashes, with HTML-safe escapes. */
const forms = (value: string): string[] => {
  const json = JSON.stringify(value).slice(1, -1);
  return [
    ...new Set([
      value,
      percentEncoded(value),
      percentEncoded(value).replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
      json,
      json.replaceAll("/", "\\/"),
      json.replaceAll(/[+&<>'`]/g, (character) => unicodeEscape(character)),
      json.replaceAll(/[+&<>'`]/g, (character) => unicodeEscape(character).toLowerCase()),
    ]),
  ];
};

const unicodeEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Percent-encoded; a lone surrogate, which no address can carry, stays as it is. */
const percentEncoded = (value: string): string => (value.isWellFormed() ? encodeURIComponent(value) : value);
