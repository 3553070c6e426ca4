/** A header's value without the white space around it, which is not part of it (RFC 9110 section 5.5). */
export const fieldValue = (raw: string): string => {
  let [start, end] = [0, raw.length];
  while (start < end && isBlank(raw.charAt(start))) start += 1;
  while (end > start && isBlank(raw.charAt(end - 1))) end -= 1;
  return raw.slice(start, end);
};

const isBlank = (character: string): boolean => character === " " || character === "\t";
