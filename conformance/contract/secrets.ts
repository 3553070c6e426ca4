import {
  base64Forms,
  changeRuns,
  decodings,
  isWord,
  pieceEnd,
  piecesOf,
  SHORTEST_RUN,
  unescaped,
  writtenForms,
} from "./secret-forms.ts";

/** Kinds that are rare in a run and live long; their values are also searched for inside words. */
const lastingKinds = [
  "client secret",
  "profile value",
  "receiver token",
  "proxy password",
  "passphrase",
  "ledger key",
] as const;
/** Kinds that a service issues while a run judges it. */
export const issuedKinds = ["code", "access token", "refresh token", "cookie", "credential"] as const;
const secretKinds = [...lastingKinds, ...issuedKinds];
export type SecretKind = (typeof secretKinds)[number];

/**
 * The labels of these kinds in a text, each with the name of the exact value, such as "code 3", and with what was done
 * to it: "encoded" before, or ", in capitals" after.
 */
export const labelsOf = (kinds: readonly SecretKind[] = secretKinds): RegExp =>
  new RegExp(`‹(encoded )?((?:${kinds.join("|")}) \\d{1,7})(, [^‹›]{1,99})?›`, "g");

/** Text that is already a label, so that masking twice equals masking once. */
const label = new RegExp(`(‹(?:encoded )?(?:${secretKinds.join("|")}) \\d{1,7}(?:, [^‹›]{1,99})?›)`, "g");

/**
 * Knows every credential of a run and replaces it by a label wherever text leaves the process. Labels preserve identity
 * ("code 3" is the same code everywhere) and hide the value.
 */
export type Secrets = ReturnType<typeof createSecrets>;

/** Shorter values are not masked, because they would match in every other word. */
const SHORTEST = 4;
/** Shorter values of other kinds than client secrets may be everyday words, such as "true" in a header. */
const SHORTEST_INSIDE = 8;
/** How much of what a rule did a label tells. */
const MOST_OF_NAME = 80;
/** How many runs of base64 without a secret are remembered. Most of a run's texts come again and again. */
const MOST_RUNS = 4_096;

interface Known {
  readonly label: string;
  /** Whether the service or the profile gave this value, rather than that a rule made it from one. */
  readonly isGiven: boolean;
}

export const createSecrets = () => {
  const forms = createForms();
  const { mask, addAnywhere } = createMasker(forms);
  const counts = new Map<SecretKind, number>();
  // Where nothing is recorded, few texts are ever masked.
  let unlearnt: (() => void)[] = [];
  const masked = (text: string): string => {
    const lessons = unlearnt;
    unlearnt = [];
    for (const lesson of lessons) lesson();
    return text.length < SHORTEST ? text : mask(text);
  };
  const learn = (value: string, kind: SecretKind): void => {
    if (forms.get(value)?.isGiven === true) return;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const known = { label: `‹${kind} ${count}›`, isGiven: true };
    for (const form of writtenForms(value)) forms.add(form, known);
    // Too short to be found by decoding.
    if (value.length * 4 < SHORTEST_RUN * 3)
      for (const form of base64Forms(value))
        if (form.length >= SHORTEST_INSIDE) forms.add(form, { ...known, isGiven: false });
    if (isLasting(kind) && (kind === "client secret" || value.length >= SHORTEST_INSIDE))
      for (const form of writtenForms(value)) addAnywhere(form, known.label);
  };
  const learnMade = (value: string, made: string, how: string): void => {
    const { label: name } = forms.get(value) ?? {};
    // Less than half of a value does not give it away, and what holds the whole of it as a word is masked anyway.
    const least = Math.max(SHORTEST_INSIDE, value.length / 2);
    if (name === undefined || made.length < least || mask(made) !== made) return;
    const what = `${name.slice(0, -1)}, ${how.replaceAll(/[^\w ]+/g, "").slice(0, MOST_OF_NAME)}›`;
    for (const form of telling(made, least))
      forms.add(form, {
        label: form.includes(value) ? form.replaceAll(value, () => name) : what,
        isGiven: false,
      });
  };
  return {
    /** Remembers a value under its first label. Values shorter than four characters are not secrets. */
    conceal: (value: string, kind: SecretKind): void => {
      if (value.length >= SHORTEST) unlearnt.push(() => learn(value, kind));
    },
    /**
     * What a rule makes of a secret, unchanged. It is remembered under the label of the secret and how it was made, since
     * it may give all but a character of it away. Of values that are not secret, nothing is remembered.
     */
    derive: <T>(value: string, made: T, how: string): T => {
      const text = typeof made === "string" ? made : JSON.stringify(made);
      if (text !== undefined) unlearnt.push(() => learnMade(value, text, how));
      return made;
    },
    /** The text with every known value replaced by its label. */
    mask: masked,
    /** The label of a known value of one of these kinds, if the text holds one. */
    find: (text: string, kinds: readonly SecretKind[]): string | undefined =>
      Array.from(masked(text).matchAll(labelsOf(kinds))).find(isExact)?.[0],
  };
};

/**
 * What of a text gives a secret away: its long words, which may appear without what is around them, or with that escaped
 * in some other way.
 */
const telling = (text: string, least: number): readonly string[] => {
  // If a percent sign is escaped, the digits after it belong to the word.
  const parts = [...piecesOf(text), ...(text.match(/[\w-]+/g) ?? [])];
  const words = parts.filter((part) => isWord(part) && part.length >= least);
  return words.length > 0 ? words : writtenForms(text.replace(/^[^\w-]+/, ""));
};

const isExact = ([, isEncoded, , change]: RegExpExecArray): boolean => (isEncoded ?? change) === undefined;

const isLasting = (kind: SecretKind): boolean => lastingKinds.some((lasting) => lasting === kind);

/** Masks what is written as it is, escaped, or in base64. */
const createMasker = (forms: ReturnType<typeof createForms>) => {
  /** Forms that are searched for anywhere, longest first, and their labels. */
  let anywhere: readonly (readonly [form: string, label: string])[] = [];
  const runsWithout = new Set<string>();
  const maskWritten = (text: string): string => {
    let masked = text;
    for (const [form, name] of anywhere)
      if (masked.includes(form)) masked = betweenLabels(masked, (part) => part.replaceAll(form, () => name));
    return betweenLabels(masked, forms.replaceIn);
  };
  /** A longer text that encodes a secret is masked whole, because the rest could be decoded. */
  const maskRun = (run: string): string => {
    if (runsWithout.has(run)) return run;
    const texts = decodings(run);
    for (const text of texts) {
      const plain = unescaped(text) ?? text;
      const masked = maskWritten(plain);
      const [, , name] = masked === plain ? [] : (labelsOf().exec(masked) ?? []);
      if (name !== undefined) return `‹encoded ${name}›`;
    }
    // What can be read in it may be a value that is not yet known.
    if (texts.length === 0) {
      if (runsWithout.size >= MOST_RUNS) runsWithout.clear();
      runsWithout.add(run);
    }
    return run;
  };
  const maskOnce = (text: string): string => {
    const masked = maskWritten(text);
    return masked.length < SHORTEST_RUN ? masked : betweenLabels(masked, (part) => changeRuns(part, maskRun));
  };
  return {
    addAnywhere: (form: string, name: string): void => {
      anywhere = [...anywhere, [form, name] as const].toSorted(([a], [b]) => b.length - a.length);
    },
    mask: (text: string): string => {
      const masked = maskOnce(text);
      const plain = unescaped(masked);
      if (plain === undefined) return masked;
      const again = maskOnce(plain);
      // What was written is kept, unless escapes hid a value.
      return again === plain ? masked : again;
    },
  };
};

/**
 * What is known about each form of a secret. A form is found if a run of whole pieces spells it, so the cost of
 * searching grows with the text, not with the number of values.
 */
const createForms = () => {
  const known = new Map<string, Known>();
  /** The lengths of first pieces, and the numbers of pieces of forms with several, longest first, by the first one. */
  const isLength: boolean[] = [];
  const sizes = new Map<string, readonly number[]>();
  /** The longest form that starts with the piece from `at` to `end`. */
  const longestAt = (text: string, at: number, end: number): { end: number; label: string } | undefined => {
    const first = text.slice(at, end);
    const ends = [end];
    for (const size of sizes.get(first) ?? []) {
      while (ends.length < size && (ends.at(-1) ?? 0) < text.length)
        ends.push(pieceEnd(text, ends.at(-1) ?? 0));
      // If the text ends earlier, compare all that is left of it.
      const last = ends[Math.min(size, ends.length) - 1] ?? end;
      const found = known.get(text.slice(at, last));
      if (found !== undefined) return { end: last, label: found.label };
    }
    const found = known.get(first);
    return found === undefined ? undefined : { end, label: found.label };
  };
  const replaceIn = (text: string): string => {
    let masked = "";
    let copied = 0;
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = pieceEnd(text, at);
      if (isLength[end - at] !== true) continue;
      const found = longestAt(text, at, end);
      if (found === undefined) continue;
      ({ end } = found);
      masked += text.slice(copied, at) + found.label;
      copied = end;
    }
    return copied === 0 ? text : masked + text.slice(copied);
  };
  return {
    get: (form: string): Known | undefined => known.get(form),
    add: (form: string, entry: Known): void => {
      const earlier = known.get(form);
      // A form that is itself a secret stays that, even if it is also made from another one.
      if (earlier !== undefined && (earlier.isGiven || !entry.isGiven)) return;
      known.set(form, entry);
      const pieces = piecesOf(form);
      const [first = ""] = pieces;
      isLength[first.length] = true;
      const others = sizes.get(first) ?? [];
      if (pieces.length > 1 && !others.includes(pieces.length))
        sizes.set(
          first,
          Array.from([...others, pieces.length]).toSorted((a, b) => b - a),
        );
    },
    replaceIn,
  };
};

const betweenLabels = (text: string, change: (part: string) => string): string =>
  text.includes("‹")
    ? text
        .split(label)
        .map((part, index) => (index % 2 === 0 ? change(part) : part))
        .join("")
    : change(text);
