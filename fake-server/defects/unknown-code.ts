import type { Behaviour } from "../behaviour.ts";
import type { CodeRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";
import { asText, firstLike, lastOf } from "./tools.ts";

/** Codes found by a comparison that is not equality. */
const comparing =
  (matches: (stored: string, presented: string) => boolean) => (): Pick<Behaviour, "findCode"> => ({
    findCode: (presented, { credentials }) => firstLike(credentials.codes, presented, matches),
  });

/** Codes found after `mended` has made something else of what was presented. */
const mending =
  (mended: (presented: unknown) => unknown) =>
  (sound: Behaviour): Pick<Behaviour, "findCode"> => ({
    findCode: (presented, context) => sound.findCode(mended(presented), context),
  });

const invented = (code: string, clientId: string, nowMs: number): CodeRecord => ({
  code,
  clientId,
  state: "",
  issuedAtMs: nowMs,
  usedAtMs: undefined,
  grant: undefined,
});

/** Codes that were never issued and pass all the same. */
export const unknownCodeDefects = {
  "code-found-whatever-its-case": defect(
    "Codes are compared without regard to case.",
    ["code.unknown"],
    comparing((stored, presented) => stored.toLowerCase() === presented.toLowerCase()),
  ),
  "code-found-by-prefix": defect(
    "Codes are found by their first half.",
    ["code.unknown"],
    comparing((stored, presented) => presented.length >= 16 && stored.startsWith(presented.slice(0, 16))),
  ),
  "code-found-but-for-last-character": defect(
    "The last character of a code is not compared.",
    ["code.unknown"],
    comparing((stored, presented) => presented !== "" && stored.slice(0, -1) === presented.slice(0, 31)),
  ),
  "code-found-with-suffix": defect(
    "Whatever follows a code is ignored.",
    ["code.unknown"],
    comparing((stored, presented) => presented.startsWith(stored)),
  ),
  "code-found-within": defect(
    "A code is found anywhere in what is presented.",
    ["code.unknown"],
    comparing((stored, presented) => presented.includes(stored)),
  ),
  "code-trimmed": defect(
    "White space around a code is cut off.",
    ["code.unknown"],
    mending((presented) => (typeof presented === "string" ? presented.trim() : presented)),
  ),
  "code-without-padding": defect(
    "Signs of equality at the end of a code are cut off as padding.",
    ["code.unknown"],
    mending((presented) => (typeof presented === "string" ? presented.replace(/=+$/, "") : presented)),
  ),
  "code-of-other-type-as-text": defect(
    "Whatever is presented as a code is made a string, an array of one code included.",
    ["code.unknown"],
    mending(asText),
  ),
  "code-empty-means-latest": defect(
    "An absent or empty code stands for the one that was issued last.",
    ["code.unknown"],
    (sound) => ({
      findCode: (presented, context) =>
        presented === undefined || presented === null || presented === ""
          ? lastOf(context.credentials.codes)
          : sound.findCode(presented, context),
    }),
  ),
  "code-of-right-form-accepted": defect(
    "A code that has the right length and alphabet is taken for one that another node has issued.",
    ["code.unknown"],
    (sound) => {
      let latestClient = "";
      return {
        keepCode: (record, context) => {
          latestClient = record.clientId;
          sound.keepCode(record, context);
        },
        findCode: (presented, context) =>
          sound.findCode(presented, context) ??
          (typeof presented === "string" && /^[\w-]{32}$/.test(presented)
            ? invented(presented, latestClient, context.nowMs)
            : undefined),
      };
    },
  ),
  "code-may-be-refresh-token": defect("A refreshToken passes for a code.", ["code.unknown"], (sound) => ({
    findCode: (presented, context) => {
      const token = sound.findRefreshToken(presented, context);
      return token === undefined
        ? sound.findCode(presented, context)
        : invented(token.token, token.clientId, context.nowMs);
    },
  })),
  "code-may-be-access-token": defect("An accessToken passes for a code.", ["code.unknown"], (sound) => ({
    findCode: (presented, context) => {
      const token = context.credentials.accessTokens.get(String(presented));
      return token === undefined
        ? sound.findCode(presented, context)
        : invented(token.token, token.clientId, context.nowMs);
    },
  })),
} satisfies Record<string, Defect>;
