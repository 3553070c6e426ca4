import type { Answer } from "../world/exchange.ts";

/** An answer with status 200 and nothing in it, but for what is given. */
export const answer = (given: Partial<Answer> = {}): Answer => ({
  exchange: 1,
  status: 200,
  headers: [],
  text: "",
  json: undefined,
  ...given,
});
