/** A header's value without the white space around it, which is not part of it (RFC 9110 section 5.5). */
export const fieldValue = (raw: string): string => {
  let [start, end] = [0, raw.length];
  while (start < end && isBlank(raw.charCodeAt(start))) start += 1;
  while (end > start && isBlank(raw.charCodeAt(end - 1))) end -= 1;
  return raw.slice(start, end);
};

const SPACE = 0x20;
const TAB = 0x09;
const isBlank = (code: number): boolean => code === SPACE || code === TAB;
