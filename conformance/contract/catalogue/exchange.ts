import type { WrittenRequirement } from "../requirement.ts";

/** Sections 4.2 and 2.2: exchanging a code for tokens. */
export const exchange = {
  "exchange.token-set": {
    level: "required",
    sections: ["2.2", "4.2"],
    sentence:
      "The answer holds accessToken and refreshToken as non-empty strings, expiresIn as a positive number of seconds and timestamp as a number.",
    judged:
      "Fresh codes are exchanged and every field of each answer is examined, also of what other rules of the run have exchanged until then. A body with the same JSON in another form (order of fields, white space, escapes) must get a token set, too.",
  },
  "exchange.authenticates-client": {
    level: "required",
    sections: ["4.2", "5.1"],
    sentence: "Without the client's own exact secret, nothing is issued.",
    judged:
      "Wrong, missing, empty, truncated, case-changed, padded and non-string secrets and another client's secret must be refused, while the right secret on a twin code succeeds.",
  },
  "exchange.unknown-client": {
    level: "derived",
    sections: ["5.1"],
    sentence: "A clientId that does not exist is refused.",
    derivation:
      "The exchange is made with the clientId and secret that a client was given; this one belongs to no client.",
    judged:
      "Unknown, empty, absent, altered and non-string ids are sent with a live code; a twin with the right id succeeds. If authorize gives a made-up client a code, it must get no tokens for it.",
  },
  "exchange.tokens-are-fresh": {
    level: "derived",
    sections: ["2.2"],
    sentence: "No two exchanges yield the same token, for one client or for several.",
    derivation: "A token is the credential of one grant with its own lifetime, so it cannot serve two.",
    judged: "Tokens of many exchanges, in sequence and at once, are collected and none may occur twice.",
  },
  "exchange.access-token-works": {
    level: "required",
    sections: ["5.2", "4.4"],
    sentence: "The accessToken of an exchange opens the notification list at once.",
    judged:
      "Each token is used right after the answer that carried it, on the same and on another connection.",
  },
  "exchange.refusal-leaks-nothing": {
    level: "derived",
    sections: ["4.2"],
    sentence: "A refusal carries no token, no secret and no stack trace.",
    derivation:
      "Tokens are what a successful exchange yields; a refusal that carries one has still issued it.",
    judged:
      "Refusals of every kind are searched, headers and body, for any credential known to the run, for usable tokens and for stack traces.",
  },
  "exchange.bad-bodies": {
    level: "derived",
    sections: ["4"],
    sentence: "A body that is not the documented JSON object is refused, and the service keeps serving.",
    derivation:
      "All bodies are JSON, with the documented fields as strings; anything else is not a token request.",
    judged:
      "Truncated JSON, other types, arrays, deep nesting, fields under __proto__ and large bodies must yield nothing usable. Neither must trailing commas, single quotes and keys without quotes, nor a form, whatever Content-Type it comes under. A valid exchange afterwards must succeed. A repeated field must be refused or have one meaning; which one is reported.",
    readings: {
      refused: "an object with a repeated field is refused",
      "last-value-counts": "if a field is repeated, the last value counts",
      "first-value-counts": "if a field is repeated, the first value counts",
    },
  },
  "exchange.errors": {
    level: "unspecified",
    sections: ["7"],
    sentence: "Status and shape of the answer for each kind of refusal.",
    judged: "One refusal of each kind is observed.",
  },
  "exchange.no-store": {
    level: "advisory",
    sections: ["4.2"],
    sentence: "Answers that carry tokens forbid caching.",
    clause: "RFC 6749 section 5.1",
    judged: "Cache-Control of token answers must hold no-store.",
  },
  "exchange.token-entropy": {
    level: "advisory",
    sections: ["2.2"],
    sentence:
      "Tokens cannot be guessed: they hold at least 128 random bits, and no structure that gives the next one away.",
    clause: "RFC 6749 section 10.10",
    judged:
      "Bits are estimated over the positions that differ between many tokens; order and shared parts are examined.",
  },
} as const satisfies Record<string, WrittenRequirement>;
