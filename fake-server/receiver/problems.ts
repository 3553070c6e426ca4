import { codeOf } from "../../conformance/contract/files.ts";
import { errorMessage } from "../../conformance/contract/text.ts";

/** The code of one of Node's errors; of any other what it says. */
export const reasonOf = (error: unknown): string => codeOf(error) || errorMessage(error);
