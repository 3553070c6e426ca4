import { describe } from "../world/answers.ts";
import type { Answer } from "../world/exchange.ts";
import { shorten } from "../world/evidence/text.ts";

export const describeBriefly = (answer: Answer): string =>
  shorten(describe(answer).replaceAll(/\s+/g, " "), 90);
