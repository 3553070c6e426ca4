const tokenName = /token$/i;
const oneWord = /^\S{16,}$/;

/**
 * Whether a field of an answer holds a token, whatever the service calls it, such as `access_token` (RFC 6749). A
 * message under such a name has blanks, or is short.
 */
export const isTokenField = (name: string, value: string): boolean =>
  tokenName.test(name) && oneWord.test(value);

/** Whether a value beside an accessToken may be another credential, whatever its name: one long word, as if drawn. */
export const mayBeToken = (value: string): boolean => drawnWord.test(value);

const drawnWord = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{20,}$/i;
