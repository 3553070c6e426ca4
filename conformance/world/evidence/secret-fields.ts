import { ALTERED_SECRET } from "../../contract/secrets.ts";

/** A client secret in a JSON body: a string, list or object, possibly truncated. */
const secretField =
  /("(?:client_?)?secret"\s*:\s*)("(?:[^"\\]|\\.)*(?:"|$)|\[[^\]]*(?:\]|$)|\{[^}]*(?:\}|$))/gi;
const label = /‹[^›]*›/g;
/** Fewer letters and digits than this reveal no secret. */
const TELLING = 6;

/**
 * Hides the value of client secret fields in a text whose known secrets are already labels. A probe that sends a nearly
 * correct secret would otherwise reveal all but a character.
 */
export const hideSecretFields = (masked: string): string =>
  masked.replace(secretField, (whole, name: string, value: string) => {
    const left = value.replace(label, "").replaceAll(/[^\p{L}\p{N}]/gu, "");
    return left.length < TELLING ? whole : `${name}"${ALTERED_SECRET}, ${value.length - 2} characters›"`;
  });
