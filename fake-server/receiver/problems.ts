import { codeOf } from "../../conformance/contract/files.ts";
import { errorMessage } from "../../conformance/contract/text.ts";

/** The code of a Node error; for other errors, the message. */
export const reasonOf = (error: unknown): string => codeOf(error) || errorMessage(error);
