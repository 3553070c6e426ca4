const tokenName = /token$/i;
const oneWord = /^\S{16,}$/;
/** One long word, as if drawn. */
const drawnWord = /^(?=.*\d)(?=.*[a-z])[\w.~+/=-]{20,}$/i;

/**
 * Whether a field of an answer holds a token, whatever the service calls it, such as `access_token` (RFC 6749). A
 * message under such a name has blanks, or is short. Beside an accessToken, any long word that seems drawn may be one.
 */
export const isTokenField = (name: string, value: string, isBesideToken: boolean): boolean =>
  (tokenName.test(name) && oneWord.test(value)) || (isBesideToken && drawnWord.test(value));
