import { secretKinds } from "../../conformance/contract/secret-index.ts";

const label = new RegExp(`‹((?:nearly |encoded )?(?:${secretKinds.join("|")}) \\d+)›`, "g");

/** ‹code 3› as the name of an environment variable: CODE_3. */
const variableOf = (name: string): string => name.toUpperCase().replaceAll(" ", "_");

/** A text in pieces: what stands there, and variables in the places of credentials. */
export const piecesOf = (
  text: string,
): readonly ({ readonly text: string } | { readonly variable: string })[] =>
  text
    .split(label)
    .map((piece, at) => (at % 2 === 0 ? { text: piece } : { variable: variableOf(piece) }))
    .filter((piece) => "variable" in piece || piece.text !== "");

/** A text in which each credential is a variable in braces, for programs that fill it in: ‹code 3› becomes {{CODE_3}}. */
export const asTemplate = (text: string): string =>
  piecesOf(text)
    .map((piece) => ("variable" in piece ? `{{${piece.variable}}}` : piece.text))
    .join("");
