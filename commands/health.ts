import { ConfigurationError, UnreachableError } from "../conformance/contract/problem.ts";
import { errorMessage } from "../conformance/contract/text.ts";
import type { Action } from "./shared/context.ts";
import type { health as definition } from "./flags/services.ts";

/** Longer than a busy receiver takes, but shorter than orchestrators wait. */
const ANSWER_WITHIN_MS = 5_000;

export const run: Action<typeof definition> = async ({ output }, address) => {
  if (!/^https?:\/\//.test(address) || !URL.canParse(address))
    throw new ConfigurationError([
      { key: "the address", value: address, accepted: "one such as http://127.0.0.1:9444" },
    ]);
  try {
    // Any answer proves it: without a token it is 401, but the interface works.
    const { status } = await fetch(address, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    output.print(`${address} answers (${status})`);
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    throw new UnreachableError(`${address} does not answer: ${errorMessage(cause)}`);
  }
};
