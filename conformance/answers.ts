import { shorten } from "./text.ts";
import { headerOf, objectOf, type Answer } from "./world/exchange.ts";

/** What an authorize answer granted, wherever the service put it. */
export interface Grant {
  readonly code: string;
  readonly state: string | undefined;
  readonly via: "json" | "redirect";
}

/** The Location of a redirect as a URL; undefined where there is none or it is no absolute address. */
export const locationOf = (answer: Answer): URL | undefined => {
  const location = headerOf(answer, "location");
  return location !== undefined && answer.status >= 300 && answer.status < 400 && URL.canParse(location)
    ? new URL(location)
    : undefined;
};

/** Query and fragment of a redirect's Location, the query first. */
const locationParameters = (location: URL): URLSearchParams =>
  new URLSearchParams(`${location.search.slice(1)}&${location.hash.slice(1)}`);

/**
 * The grant in an authorize answer: a non-empty string `code` in the JSON body, or in the
 * Location of a redirect (both are accepted; section 4.1 does not show the redirect).
 * Whether such a code is worth anything is another question: an error body may well
 * have a field of that name.
 */
export const grantOf = (answer: Answer): Grant | undefined => {
  const location = locationOf(answer);
  if (location !== undefined) {
    const parameters = locationParameters(location);
    const code = parameters.get("code");
    if (code !== null && code !== "")
      return { code, state: parameters.get("state") ?? undefined, via: "redirect" };
  }
  const { code, state } = objectOf(answer);
  return typeof code === "string" && code !== ""
    ? { code, state: typeof state === "string" ? state : undefined, via: "json" }
    : undefined;
};

/** Credentials in a token answer, whatever its status; each only where it is a non-empty string. */
export interface Credentials {
  readonly accessToken: string | undefined;
  readonly refreshToken: string | undefined;
  readonly expiresIn: unknown;
}

export const credentialsOf = (answer: Answer): Credentials => {
  const { accessToken, refreshToken, expiresIn } = objectOf(answer);
  return { accessToken: textOrNothing(accessToken), refreshToken: textOrNothing(refreshToken), expiresIn };
};

const textOrNothing = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** A page of notifications as it came: items unchecked, total as sent. */
export interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly total: unknown;
}

/** The page in a list answer; undefined where the body holds no array of objects under `data`. */
export const pageOf = (answer: Answer): Page | undefined => {
  const { data, total } = objectOf(answer);
  if (!Array.isArray(data)) return undefined;
  if (!data.every((item) => typeof item === "object" && item !== null)) return undefined;
  return { items: data as Readonly<Record<string, unknown>>[], total };
};

/** The ids of a page's items, in their order. */
export const idsOf = (page: Page): readonly string[] => page.items.map((item) => String(item["id"]));

/** How an answer looks to a reader of a report: its status and the beginning of its body. */
export const describe = (answer: Answer): string => {
  const text = shorten(answer.text, 160);
  return text === "" ? `status ${answer.status}, no body` : `status ${answer.status}, body ${text}`;
};
