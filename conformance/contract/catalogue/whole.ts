import type { WrittenRequirement } from "../requirement.ts";

/** Requirements on the service as a whole, and what no client can see. */
export const whole = {
  "lifecycle.model": {
    level: "derived",
    sections: ["2", "3", "4", "5"],
    sentence:
      "Whatever the order of authorizations, exchanges, refreshes, reads, events and the passing of time, the service answers as the document's states and transitions say.",
    derivation: "Each transition is promised by itself; together they must hold in every order.",
    judged:
      "Random sequences of requests run against the service and a reference model in parallel. Unless they reach every state, the rule is inconclusive.",
  },
  "service.survives-bad-input": {
    level: "advisory",
    sections: ["4"],
    sentence:
      "Malformed input never causes a 5xx, a hang or a dropped connection, and the service keeps serving.",
    clause: "RFC 9110 section 15.6",
    judged:
      "Malformed requests that any client can send go to every endpoint, each on its own connection, and a few right behind a valid request on its connection, which may also be closed instead; a valid request must succeed afterwards.",
  },
  "service.leaks-nothing": {
    level: "advisory",
    sections: ["7"],
    sentence: "Answers hold no stack traces, secrets or internal paths.",
    clause: "OWASP ASVS 5.0 section 16.5 and chapter 13",
    judged:
      "Every kind of error answer is searched for traces of common runtimes, file paths and the credentials that the run knows.",
  },
  "service.content-type": {
    level: "unspecified",
    sections: ["4"],
    sentence: "Content types of answers, and how an absent or other content type of a request is answered.",
    judged: "One request of each kind is observed.",
  },
} as const satisfies Record<string, WrittenRequirement>;

export const untestable = {
  "untestable.client-issuing": {
    level: "untestable",
    sections: ["5"],
    sentence: "How clientId and clientSecret are issued.",
    judged: "Not judged.",
    reason: "Credentials reach the harness through its profile, so it cannot see how they were issued.",
  },
  "untestable.push-authenticity": {
    level: "untestable",
    sections: ["5"],
    sentence: "How a receiver can tell that a push is authentic.",
    judged: "Not judged.",
    reason: "The document names no signature and no secret, so there is nothing to verify a push against.",
  },
  "untestable.rate-limits": {
    level: "untestable",
    sections: ["8"],
    sentence: "Which rates are allowed.",
    judged: "Not judged.",
    reason:
      "No rate is promised, and a limit that a run happens to meet could be that of any system in between.",
  },
  "untestable.version-policy": {
    level: "untestable",
    sections: ["9"],
    sentence: "How versions are changed, kept compatible and retired.",
    judged: "Not judged.",
    reason: "A policy shows in how a service changes over years, not in its answers today.",
  },
  "untestable.template-list": {
    level: "untestable",
    sections: ["6"],
    sentence: "Which Template values exist and which payload belongs to each.",
    judged: "Not judged.",
    reason:
      "The list is not shown, and a complete one cannot be inferred from the values that happen to occur.",
  },
} as const satisfies Record<string, WrittenRequirement>;
