import type { WrittenRequirement } from "../requirement.ts";

/** Sections 2.1 and 3.1: the life of an authorization code. */
export const code = {
  "code.single-use": {
    level: "required",
    sections: ["2.1", "3.1"],
    sentence: "The first exchange of a code succeeds and every later one is refused.",
    judged:
      "A code is exchanged, then presented again: at once, after a pause, after a refresh, on the same and on another connection; only the first may yield usable tokens.",
  },
  "code.single-use-under-race": {
    level: "required",
    sections: ["2.1", "3.1"],
    sentence: "Of concurrent exchanges of one code, at most one succeeds.",
    judged:
      "Many rounds of two and three contenders on separate connections; the history of answers must be linearizable against a one-shot register, with a timeout counted as unknown.",
  },
  "code.lifetime": {
    level: "required",
    sections: ["2.1", "3.1", "8"],
    sentence: "A code that is not used can be exchanged for 10 minutes and no longer.",
    judged:
      "Each code is exchanged once, at a generated age before or after the limit. It must work while its maximum possible age is below the limit, and be refused once its minimum possible age is above it.",
  },
  "code.lifetime-is-not-extended": {
    level: "derived",
    sections: ["3.1"],
    sentence: "A refused attempt does not restart the 10 minutes.",
    derivation: "The code expires 10 minutes after issue when unused, and a refused attempt does not use it.",
    judged:
      "Refused attempts of several kinds are made with a code during its life; it must still expire 10 minutes after issue.",
  },
  "code.independence": {
    level: "derived",
    sections: ["3.1"],
    sentence: "Using a code, or letting it expire, affects no other code of the same client or of another.",
    derivation: "Each code has its own state; the transitions involve no other code.",
    judged:
      "Of a generated set of codes some are used, reused or refused in generated order; every other one must still be exchangeable.",
  },
  "code.unknown": {
    level: "derived",
    sections: ["4.2"],
    sentence: "A code that was never issued is refused.",
    derivation: "The exchange takes the code from the authorize answer; anything else is not such a code.",
    judged:
      "Near misses of a live code (case, prefix, suffix, padding, white space), other types and other credentials in its place must be refused, while the live code, or a twin if the attempt used that up, works. The same code with different base64 padding is not another code (whoever knows one knows both), so the service may accept or refuse it.",
  },
  "code.failed-attempt": {
    level: "unspecified",
    sections: ["3.1"],
    sentence: "Whether a refused attempt uses up the code.",
    judged:
      "A code gets one refused attempt of each kind and is then exchanged correctly; the outcome is observed.",
  },
  "code.bound-to-client": {
    level: "advisory",
    sections: ["4.2"],
    sentence: "A code works only for the client it was issued to.",
    clause: "RFC 6749 section 4.1.3",
    judged:
      "A second client presents the first client's code, with its own correct secret. As a control, the second client's own code must work.",
  },
  "code.reuse-revokes-tokens": {
    level: "advisory",
    sections: ["3.1"],
    sentence: "Presenting a used code again revokes the tokens that its first exchange returned.",
    clause: "RFC 6749 section 4.1.2",
    judged:
      "After a refused reuse the tokens of the first exchange are tried; a set from another code must keep working.",
  },
} as const satisfies Record<string, WrittenRequirement>;
