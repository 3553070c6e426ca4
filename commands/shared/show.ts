import type { Doc } from "../../reports/document/model.ts";
import { renderTerminal } from "../../reports/terminal/document.ts";
import type { Output } from "./output.ts";

export const show = (output: Output, document: Doc): void =>
  output.print(renderTerminal(document, output.page()));
