/** Decompresses Snappy's block format, used by Prometheus' remote write. For trusted data only. */
export const fromSnappy = (bytes: Buffer): Buffer => {
  let at = 0;
  const little = (size: number): number => {
    const value = size === 0 ? 0 : bytes.readUIntLE(at, size);
    at += size;
    return value;
  };
  // The total length, seven bits per byte.
  let [length, shift] = [0, 0];
  for (let more = true; more; shift += 7) {
    const byte = little(1);
    length += (byte & 0x7f) * 2 ** shift;
    more = byte >= 0x80;
  }
  const whole = Buffer.alloc(length);
  let to = 0;
  while (at < bytes.length) {
    const tag = little(1);
    const kind = tag & 3;
    if (kind === 0) {
      const size = tag >> 2;
      const count = (size < 60 ? size : little(size - 59)) + 1;
      to += bytes.copy(whole, to, at, at + count);
      at += count;
      continue;
    }
    const count = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const back = kind === 1 ? ((tag >> 5) << 8) + little(1) : little(kind === 2 ? 2 : 4);
    // A copy may overlap its own output.
    for (let copied = 0; copied < count; copied += 1, to += 1) whole[to] = whole[to - back] ?? 0;
  }
  return whole;
};
