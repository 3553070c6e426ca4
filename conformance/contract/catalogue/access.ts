import type { WrittenRequirement } from "../requirement.ts";

/** Sections 2.2 and 5: the access token at work. */
export const access = {
  "access.required": {
    level: "required",
    sections: ["1", "5.2"],
    sentence: "Without a valid accessToken in x-service-access-token, no data is returned.",
    judged:
      "Absent, empty, invented and altered tokens, tokens under another header, and codes or refreshTokens in their place must yield no notification and no total. The document puts nothing before the token, so `Bearer ` before it alters it; other base64 padding does not (see `code.unknown`). A code or a refreshToken is also tried over twelve connections at once, since not every process of a service may check alike. As a control, the valid token must yield both.",
  },
  "access.lifetime": {
    level: "required",
    sections: ["2.2", "5.1"],
    sentence: "An accessToken is accepted until expiresIn seconds after issue and refused from then on.",
    judged:
      "Tokens of exchanges and of refreshes, idle and in use, are tried at generated ages before and after their own expiresIn. Some are used by eight requests at once right before their end, so that each of several processes may have kept what it saw.",
  },
  "access.header": {
    level: "required",
    sections: ["5.2"],
    sentence:
      "The accessToken is read from the header x-service-access-token, however its name is capitalised.",
    judged:
      "The same token is sent under differently capitalised spellings of the name, which HTTP treats as one (RFC 9110 section 5.1).",
  },
} as const satisfies Record<string, WrittenRequirement>;
