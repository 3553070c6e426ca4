const credentialCharacter = /[A-Za-z0-9._~+/=%-]/;
/** Longer than any credential: what runs on beyond it is filler, and may be cut anywhere. */
const LONGEST_CREDENTIAL = 4_096;

/**
 * The beginning of a text, of at most this many characters, with an ellipsis where something was left
 * out. Never ends inside a word: half a credential would not be recognised as one, and so not be masked.
 */
export const shorten = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const least = Math.max(0, most - LONGEST_CREDENTIAL);
  let end = most;
  while (end > least && credentialCharacter.test(text.charAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}…`;
};
