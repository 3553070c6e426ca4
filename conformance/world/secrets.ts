/**
 * Knows every credential that a run has met and replaces it by a label wherever text
 * leaves the process. Labels keep identity ("code 3" is the same code everywhere) and
 * hide the value.
 */
export interface Secrets {
  /** Remembers a value; the first label that it was given stays. Empty values are no secrets. */
  conceal(value: string, kind: string): void;
  /** The text with every known value replaced by its label. */
  mask(text: string): string;
  /** Whether the text holds a known value of one of these kinds, and which label. */
  find(text: string, kinds: readonly string[]): string | undefined;
}

/** Runs of characters that credentials are made of; whatever stands between them cannot be part of one. */
const candidates = /[A-Za-z0-9._~+/=-]+|%[0-9A-Fa-f]{2}/g;

export const createSecrets = (): Secrets => {
  const labels = new Map<string, { readonly kind: string; readonly label: string }>();
  /** Values that the candidate pattern cannot isolate, such as ones with spaces, and those that are looked for inside words. */
  const irregular = new Set<string>();
  const counts = new Map<string, number>();

  return {
    conceal: (value, kind) => {
      if (value.length < 4 || labels.has(value)) return;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      for (const form of forms(value)) {
        if (labels.has(form)) continue;
        labels.set(form, { kind, label: `‹${kind} ${count}›` });
        const isolated = form.match(candidates);
        // Client secrets are few and live long, and probes glue characters to them: they are looked for everywhere.
        const isGlued = kind === "client secret";
        if (isGlued || isolated === null || isolated.length !== 1 || isolated[0] !== form)
          irregular.add(form);
      }
    },
    mask: (text) => {
      let masked = text;
      for (const value of irregular)
        if (masked.includes(value)) masked = masked.replaceAll(value, labels.get(value)?.label ?? "‹secret›");
      return masked.replace(candidates, (piece) => labels.get(piece)?.label ?? maskInside(piece, labels));
    },
    find: (text, kinds) => {
      for (const piece of text.match(candidates) ?? []) {
        const known = labels.get(piece);
        if (known !== undefined && kinds.includes(known.kind)) return known.label;
      }
      for (const value of irregular) {
        const known = labels.get(value);
        if (known !== undefined && kinds.includes(known.kind) && text.includes(value)) return known.label;
      }
      return undefined;
    },
  };
};

/** A value as it is, in an address, and in a JSON text. */
const forms = (value: string): string[] => [
  ...new Set([value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]),
];

/** A piece such as `code=abc` or `a.b/abc` may hold a credential between its own separators. */
const maskInside = (piece: string, labels: ReadonlyMap<string, { readonly label: string }>): string =>
  /[=/+.~]/.test(piece)
    ? piece
        .split(/([=/+.~])/)
        .map((part) => labels.get(part)?.label ?? part)
        .join("")
    : piece;
