import { safe } from "../text/safe.ts";

/**
 * A text that is safe anywhere in the page: control characters, marks that turn the direction of
 * text, invisible ones and halves of surrogate pairs are shown escaped; line ends and tabs stay.
 */
export const inert = (text: string): string =>
  text.includes("\n") || text.includes("\t")
    ? text
        .split(/([\n\t])/)
        .map(keep)
        .join("")
    : safe(text);

const keep = (piece: string): string => (piece === "\n" || piece === "\t" ? piece : safe(piece));
