import { createCleanTexts, type CleanTexts } from "./clean-texts.ts";
import { nearnessOf, type Nearness } from "./nearness.ts";
import { pieceEnd } from "./pieces.ts";
import { decodings, encodedRuns, isUuid, unescaped } from "./secret-forms.ts";
import { createSecretIndex, secretKinds, type SecretIndex, type SecretKind } from "./secret-index.ts";

export type { SecretKind };

/**
 * Knows every credential of a run and replaces it by a label wherever text leaves the process. Labels preserve identity
 * ("code 3" is the same code everywhere) and hide the value.
 */
export type Secrets = ReturnType<typeof createSecrets>;

/** Begins what stands for a client secret that was sent altered. It is no label: its value is not kept. */
export const ALTERED_SECRET = "‹another client secret";

/** Shorter values are not masked, because they would match in every other word. */
const SHORTEST = 4;

/** Text that is already a label, so that masking twice equals masking once. */
const labels = new RegExp(`(‹(?:nearly |encoded )?(?:${secretKinds.join("|")}) \\d{1,7}›)`);

export const createSecrets = () => {
  const known = createSecretIndex();
  const clean = createCleanTexts();
  // Where nothing is recorded, few texts are ever masked.
  const unindexed = new Map<string, SecretKind>();
  const indexed = (): SecretIndex => {
    if (unindexed.size > 0) {
      for (const [value, kind] of unindexed) if (known.add(value, kind)) clean.meet(value, kind);
      unindexed.clear();
    }
    return known;
  };
  const withoutEncoded = (part: string): string => maskEncoded(known, clean, part);
  const withoutWords = (part: string): string => maskWords(known, part);
  const maskAsWritten = (index: SecretIndex, text: string): string => {
    let masked = betweenLabels(text, withoutEncoded);
    for (const value of index.gluedIn(masked))
      masked = betweenLabels(masked, (part) =>
        part.replaceAll(value, () => index.get(value)?.label ?? "‹secret›"),
      );
    return betweenLabels(masked, withoutWords);
  };
  return {
    /** Remembers a value under its first label. Values shorter than four characters are not secrets. */
    conceal: (value: string, kind: SecretKind): void => {
      if (value.length >= SHORTEST && !unindexed.has(value)) unindexed.set(value, kind);
    },
    /** The text with every known value replaced by its label. */
    mask: (text: string): string => {
      const index = indexed();
      if (text.length < SHORTEST || index.isEmpty() || clean.has(text)) return text;
      const masked = maskAsWritten(index, text);
      if (masked === text) clean.add(text);
      const plain = unescaped(masked);
      if (plain === undefined) return masked;
      const again = maskAsWritten(index, plain);
      // What was written is kept, unless escapes hid a value.
      return again === plain ? masked : again;
    },
    /** How values in a text that are masked as nearly a secret differ from it, by label; those that one change tells. */
    nearness: (text: string): Readonly<Record<string, Nearness>> => nearnessIn(indexed(), text),
    /** The label of a known value of one of these kinds, if the text holds one. */
    find: (written: string, kinds: readonly SecretKind[]): string | undefined => {
      const index = indexed();
      const text = unescaped(written) ?? written;
      for (let at = 0, end = 0; at < text.length; at = end) {
        end = pieceEnd(text, at);
        const found = index.longestAt(text, at, end);
        if (found !== undefined && kinds.includes(found.entry.kind)) return found.entry.label;
      }
      for (const value of index.gluedIn(text)) {
        const entry = index.get(value);
        if (entry !== undefined && kinds.includes(entry.kind)) return entry.label;
      }
      return undefined;
    },
  };
};

/** Longer texts that encode a secret are masked whole, because the rest could be decoded. */
const maskEncoded = (index: SecretIndex, clean: CleanTexts, text: string): string => {
  let masked = "";
  let copied = 0;
  for (const { at, end, mayGoOn } of encodedRuns(text)) {
    const run = text.slice(at, end);
    if (isUuid(run) || (!mayGoOn && clean.hasRun(run)) || index.get(run) !== undefined) continue;
    const decoded = decodings(run, mayGoOn).map((part) => unescaped(part) ?? part);
    const label = encodedLabel(index, decoded);
    if (label === undefined) {
      if (!mayGoOn) clean.addRun(run, decoded);
      continue;
    }
    masked += text.slice(copied, at) + label;
    copied = end;
  }
  return copied === 0 ? text : masked + text.slice(copied);
};

const encodedLabel = (index: SecretIndex, texts: readonly string[]): string | undefined => {
  for (const text of texts) {
    const label = index.anyIn(text);
    if (label !== undefined) return label.replace(/^‹(?:nearly )?/, "‹encoded ");
  }
  return undefined;
};

const maskWords = (index: SecretIndex, text: string): string => {
  let masked = "";
  let copied = 0;
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = pieceEnd(text, at);
    if (!index.mayBe(end - at)) continue;
    const found = index.longestAt(text, at, end);
    const label = found?.entry.label ?? index.nearlyAt(text, at, end);
    if (label === undefined) continue;
    end = found?.end ?? end;
    masked += text.slice(copied, at) + label;
    copied = end;
  }
  return copied === 0 ? text : masked + text.slice(copied);
};

const nearnessIn = (index: SecretIndex, text: string): Readonly<Record<string, Nearness>> => {
  const found = new Map<string, Nearness | undefined>();
  for (let at = 0, end = 0; at < text.length; at = end) {
    end = pieceEnd(text, at);
    if (index.longestAt(text, at, end) !== undefined || index.nearlyAt(text, at, end) === undefined) continue;
    const word = text.slice(at, end);
    const value = index.nearTo(word);
    if (value === undefined) continue;
    const how = nearnessOf(word, value.written);
    // A label that stands for two values in one text does not tell which.
    const isOther = found.has(value.label) && JSON.stringify(found.get(value.label)) !== JSON.stringify(how);
    found.set(value.label, isOther ? undefined : how);
  }
  return Object.fromEntries([...found].flatMap(([label, how]) => (how === undefined ? [] : [[label, how]])));
};

const betweenLabels = (text: string, change: (part: string) => string): string =>
  text.includes("‹")
    ? text
        .split(labels)
        .map((part, index) => (index % 2 === 0 ? change(part) : part))
        .join("")
    : change(text);
