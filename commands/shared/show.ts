import type { Doc } from "../../reports/document/model.ts";
import { renderTerminal } from "../../reports/terminal/document.ts";
import type { Output } from "./output.ts";

/** Prints a document; with --json, the data that it shows instead. */
export const show = (output: Output, document: Doc, data?: object): void => {
  if (data !== undefined && output.manner().json) output.printJson(data);
  else output.print(renderTerminal(document, output.page()));
};
