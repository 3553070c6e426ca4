import type { Doc } from "../../reports/document/model.ts";
import { renderTerminal } from "../../reports/terminal/document.ts";
import type { Output } from "./output.ts";

/** Prints a document as the result of a command, as wide as the terminal is. */
export const show = (output: Output, document: Doc): void =>
  output.print(renderTerminal(document, output.page()));
