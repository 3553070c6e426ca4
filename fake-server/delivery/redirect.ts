import type { PushOutcome, PushRequest } from "../pushes.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect (RFC 9110 section 15.4); undefined if the answer is not a redirect. */
export const redirectOf = (outcome: PushOutcome, request: PushRequest): string | undefined => {
  if (outcome.kind !== "answered" || !REDIRECTS.has(outcome.status)) return undefined;
  const { location } = outcome.headers;
  if (location === undefined || !URL.canParse(location, request.url)) return undefined;
  const { protocol, href } = new URL(location, request.url);
  return /^https?:$/.test(protocol) ? href : undefined;
};
