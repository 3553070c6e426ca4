import type { WrittenRequirement } from "../requirement.ts";

/** Sections 4.3 and 3.2: refreshing the access token. */
export const refresh = {
  "refresh.token-set": {
    level: "required",
    sections: ["4.3"],
    sentence:
      "The answer to a refresh holds accessToken as a non-empty string, expiresIn as a positive number and timestamp as a number.",
    judged:
      "Refresh tokens are used and every field of each answer is examined. A body with the same JSON in another form (order of fields, white space, escapes) must get one, too.",
  },
  "refresh.returns-no-refresh-token": {
    level: "required",
    sections: ["4.3", "2.2"],
    sentence: "A refresh returns no new refreshToken.",
    judged: "Answers to first and to later refreshes must not carry a refreshToken.",
  },
  "refresh.access-token-works": {
    level: "required",
    sections: ["4.3", "5.2"],
    sentence: "The accessToken of a refresh opens the notification list.",
    judged: "Each refreshed token is used right after the answer that carried it.",
  },
  "refresh.reusable": {
    level: "derived",
    sections: ["2.2", "4.3"],
    sentence:
      "The same refreshToken works again and again within its 30 days, one after another and concurrently.",
    derivation:
      "No new refreshToken is returned, and the existing one is promised for 30 days, so it must survive its use.",
    judged:
      "One token is refreshed repeatedly, concurrently, and again late in its life; each answer must carry a working accessToken.",
  },
  "refresh.lifetime": {
    level: "required",
    sections: ["2.2", "3.2", "8"],
    sentence: "A refreshToken works for 30 days after issue and no longer.",
    judged:
      "Tokens are refreshed at generated ages before and after the limit. Whether one must work or be refused follows from the interval that contains its moment of issue.",
  },
  "refresh.lifetime-is-from-issue": {
    level: "required",
    sections: ["3.2"],
    sentence: "Using a refreshToken does not extend its 30 days.",
    judged: "Tokens in regular use must be dead 30 days after issue, and alive before.",
  },
  "refresh.after-access-expiry": {
    level: "required",
    sections: ["5.1"],
    sentence: "A refresh works once the accessToken has expired.",
    judged:
      "The accessToken is left to expire, which the notification list must show, and then the refresh must yield one that works.",
  },
  "refresh.reauthorize": {
    level: "required",
    sections: ["3.2", "5.3"],
    sentence: "When the refreshToken has become invalid, a new authorization works.",
    judged:
      "After the 30 days the old token is refused and a new run of the flow must yield tokens that work.",
  },
  "refresh.unknown": {
    level: "derived",
    sections: ["4.3"],
    sentence: "A value that was never issued as a refreshToken is refused.",
    derivation: "The refresh takes the refreshToken of a token exchange; anything else is not one.",
    judged:
      "Near misses of a live token, other types, a code and an accessToken in its place must yield nothing usable; the live token must still work.",
  },
  "refresh.unknown-client": {
    level: "derived",
    sections: ["4.3"],
    sentence: "A clientId that is unknown, empty or absent is refused.",
    derivation: "The refresh is made with the clientId of the client; a request without one has no client.",
    judged: "A live refreshToken is sent with non-existent clientIds; with the right one it must work.",
  },
  "refresh.bound-to-client": {
    level: "advisory",
    sections: ["4.3"],
    sentence: "A refreshToken works only for the client it was issued to.",
    clause: "RFC 6749 section 6",
    judged:
      "A second client presents the first client's token. As a control, the second client's own token must work.",
  },
  "refresh.previous-access-token": {
    level: "unspecified",
    sections: ["4.3"],
    sentence: "Whether the earlier accessToken still works after a refresh.",
    judged: "The earlier token is tried after a refresh and the outcome is observed.",
  },
} as const satisfies Record<string, WrittenRequirement>;
