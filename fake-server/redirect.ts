import type { Answer, Fields } from "./answer.ts";

/** A redirect that carries what a JSON answer would have carried. */
export const redirectTo = (location: string): Answer => ({
  status: 302,
  headers: { location, "cache-control": "no-store" },
  body: "",
});

/** The query part that carries code and state. */
export const codeAndState = (fields: Fields): string =>
  new URLSearchParams({ code: String(fields["code"]), state: String(fields["state"]) }).toString();

export const withCodeAndState = (address: string, fields: Fields): string => {
  const url = new URL(address);
  url.search += `${url.search === "" ? "?" : "&"}${codeAndState(fields)}`;
  return url.href;
};
