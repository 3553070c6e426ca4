const KEY_BYTES = 8;
const BUCKETS = 2 ** 22;

/** A number below BUCKETS, from the next eight bytes. */
const bucketAt = (bytes: Buffer, at: number): number =>
  (Math.imul(bytes.readInt32LE(at), 0x9e3779b1) ^ Math.imul(bytes.readInt32LE(at + 4), 0x85ebca6b)) >>> 10;

/**
 * Searches for many thousands of texts at once, in time proportional to the bytes searched, not to the number of texts.
 * Throws RangeError for texts shorter than eight bytes, which occur everywhere.
 */
export const searchFor = (texts: Iterable<string>) => {
  const occupied = new Uint8Array(BUCKETS);
  const byKey = new Map<string, Set<string>>();
  for (const text of texts) {
    const bytes = Buffer.from(text);
    if (bytes.length < KEY_BYTES) throw new RangeError("a text of less than eight bytes is in everything");
    occupied[bucketAt(bytes, 0)] = 1;
    const key = bytes.toString("latin1", 0, KEY_BYTES);
    const known = byKey.get(key) ?? new Set();
    byKey.set(key, known.add(bytes.toString("latin1")));
  }
  /** The texts that were found, and their positions. */
  return (bytes: Buffer) => {
    const hits: { readonly text: string; readonly at: number }[] = [];
    for (let at = 0; at + KEY_BYTES <= bytes.length; at += 1) {
      if (occupied[bucketAt(bytes, at)] !== 1) continue;
      for (const text of byKey.get(bytes.toString("latin1", at, at + KEY_BYTES)) ?? [])
        if (bytes.toString("latin1", at, at + text.length) === text) hits.push({ text, at });
    }
    return hits;
  };
};
