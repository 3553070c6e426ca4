import { shorten } from "./evidence/text.ts";
import { headerOf, objectOf, type Answer } from "./exchange.ts";
import type { PlainAnswer } from "../judging/laws/answer.ts";
import { grantOf as grantIn, type Grant } from "../judging/laws/grant.ts";
import { pageOf as pageIn, type Page } from "../judging/laws/pages.ts";
import { credentialsOf as credentialsIn, type Credentials } from "../judging/laws/tokens.ts";

/** The Location of a redirect as a URL; undefined where there is none or it is no absolute address. */
export const locationOf = (answer: Answer): URL | undefined => {
  const location = headerOf(answer, "location");
  return location !== undefined && answer.status >= 300 && answer.status < 400 && URL.canParse(location)
    ? new URL(location)
    : undefined;
};

export const plainOf = (answer: Answer): PlainAnswer => ({
  status: answer.status,
  fields: objectOf(answer),
  location: headerOf(answer, "location"),
});

/** The grant in an authorize answer, in JSON or by a redirect. */
export const grantOf = (answer: Answer): Grant | undefined => grantIn(plainOf(answer));

/** Credentials in a token answer, whatever its status; each only where it is a non-empty string. */
export const credentialsOf = (answer: Answer): Credentials => credentialsIn(objectOf(answer));

/** The page in a list answer; undefined where the body holds no array of objects under `data`. */
export const pageOf = (answer: Answer): Page | undefined => pageIn(objectOf(answer));

/** How an answer looks to a reader of a report: its status and the beginning of its body. */
export const describe = (answer: Answer): string => {
  const text = shorten(answer.text, 160);
  return text === "" ? `status ${answer.status}, no body` : `status ${answer.status}, body ${text}`;
};
