/** A client secret in a JSON body: a string, a list or an object, also one that is cut off. */
const secretField =
  /("(?:client_?)?secret"\s*:\s*)("(?:[^"\\]|\\.)*(?:"|$)|\[[^\]]*(?:\]|$)|\{[^}]*(?:\}|$))/gi;
const label = /‹[^›]*›/g;
/** Fewer letters and digits than this give no secret away. */
const TELLING = 6;

/**
 * Hides what stands where a client secret belongs, in a text whose known secrets are labels already. A probe
 * that sends a secret nearly right would otherwise tell all of it but for one character.
 */
export const hideSecretFields = (masked: string): string =>
  masked.replace(secretField, (whole, name: string, value: string) => {
    const left = value.replace(label, "").replaceAll(/[^\p{L}\p{N}]/gu, "");
    return left.length < TELLING ? whole : `${name}"‹another client secret, ${value.length - 2} characters›"`;
  });
