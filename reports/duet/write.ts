import path from "node:path";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import { placeFiles } from "../place.ts";
import type { DuetDocument } from "./document.ts";

export const duetFile = "duet.json";

/** Writes or replaces duet.json. Throws ConfigurationError. */
export const writeDuet = (directory: string, document: DuetDocument): void =>
  placeFiles({ folder: directory, flag: "--out" }, [[path.join(directory, duetFile), jsonFile(document)]]);
