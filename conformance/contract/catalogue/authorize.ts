import type { WrittenRequirement } from "../requirement.ts";

/** Section 4.1: obtaining an authorization code. */
export const authorize = {
  "authorize.answers-with-code": {
    level: "required",
    sections: ["4.1"],
    sentence:
      "A valid authorize request is answered with a non-empty code, the state and a numeric timestamp.",
    judged:
      "Valid requests with generated states are sent, one with its parameters in another order; both the JSON answer and a redirect to redirectUri that carries code and state count, and the code must be exchangeable.",
  },
  "authorize.echoes-state": {
    level: "required",
    sections: ["2.1", "4.1"],
    sentence:
      "Whatever state of 1 to 128 characters from a-z, A-Z, 0-9 is sent, the answer carries exactly the same string.",
    judged:
      "Generated states, among them ones that look like numbers, booleans, null and property names, are compared byte for byte with the state of the answer.",
  },
  "authorize.state-charset": {
    level: "required",
    sections: ["2.1", "8"],
    sentence: "A state with any character outside a-z, A-Z, 0-9 is refused.",
    judged:
      "Each foreign character is placed in an otherwise valid state; the answer must yield no exchangeable code, while a twin request with a valid state must yield one. A state that is blank or not well-formed decides nothing if the answer carries none: the parser may have dropped it.",
  },
  "authorize.state-length": {
    level: "required",
    sections: ["2.1", "8"],
    sentence: "A state of 128 bytes is accepted and one of 129 bytes is refused.",
    judged:
      "States at the boundary and far beyond it are sent, plain and percent-encoded; the report names the readings that the answers allow.",
    readings: {
      "bytes-after-decoding": "the 128 bytes are counted after percent-decoding",
      "bytes-before-decoding": "the 128 bytes are counted as sent in the query",
    },
  },
  "authorize.code-is-fresh": {
    level: "derived",
    sections: ["2.1"],
    sentence:
      "No two authorizations get the same code, one after another or at once, for one client or for several.",
    derivation: "A ticket that works only once must be different for each authorization.",
    judged:
      "Many codes are collected, in sequence, concurrently and for each client, and none may occur twice.",
  },
  "authorize.timestamp": {
    level: "required",
    sections: ["4.1"],
    sentence: "The timestamp of the answer is a number that follows the clock and never runs backwards.",
    judged:
      "Timestamps are read before and after a known stretch of time; their difference must match it in one unit (seconds, milliseconds, microseconds or nanoseconds), and no later answer on the same connection may carry an earlier time, except for a second by which the clocks of several machines may differ, and another where the time is told in whole seconds.",
    readings: {
      seconds: "timestamps count seconds",
      milliseconds: "timestamps count milliseconds",
      microseconds: "timestamps count microseconds",
      nanoseconds: "timestamps count nanoseconds",
    },
  },
  "authorize.redirect-uri-encoded": {
    level: "required",
    sections: ["4.1"],
    sentence:
      "A URL-encoded redirectUri is accepted as a whole, including its query, port, Unicode host and reserved characters.",
    judged:
      "Encoded addresses of many shapes are sent; each must be accepted, and if the service redirects, the Location must be that address with code and state added.",
  },
  "authorize.redirect": {
    level: "unspecified",
    sections: ["4.1"],
    sentence:
      "Whether the answer is JSON or a redirect, with which status, and where code and state are put.",
    judged: "One valid request is observed.",
  },
  "authorize.missing-or-unknown-parameters": {
    level: "unspecified",
    sections: ["4"],
    sentence: "How an absent, empty, repeated or unknown query parameter is answered.",
    judged: "One request of each kind is observed.",
  },
  "authorize.unregistered-redirect": {
    level: "advisory",
    sections: ["4.1"],
    sentence: "No redirect that carries a code leads to an unregistered address.",
    clause: "RFC 6749 section 3.1.2.3; RFC 9700 section 4.1",
    judged:
      "Addresses that look like the registered one are sent, and no Location that points there, with or without a scheme, may hold a usable code. If the service answers with JSON, the rule is not applicable.",
  },
  "authorize.code-entropy": {
    level: "advisory",
    sections: ["2.1"],
    sentence:
      "Codes cannot be guessed: they hold at least 128 random bits, with no shared prefix and no ascending or descending order.",
    clause: "RFC 6749 section 10.10",
    judged:
      "The number of bits is a code's length times log2 of the alphabet seen in many codes. The same codes are searched for shared prefixes and an order.",
  },
} as const satisfies Record<string, WrittenRequirement>;
