/** An answer as sent, without the headers that HTTP adds. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Sent in chunks, without a Content-Length. */
  readonly chunked?: true;
  /** Sent compressed with gzip, whether asked or not. */
  readonly compressed?: true;
  /** Sent after a `100 Continue` and a `103 Early Hints` (RFC 9110 section 15.2). */
  readonly interim?: true;
}

/** The fields of a successful answer, in output order. */
export type Fields = Readonly<Record<string, unknown>>;

/** No answer may be stored: most carry credentials (RFC 6749 section 5.1). */
const JSON_HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

export const jsonAnswer = (status: number, body: unknown): Answer => ({
  status,
  headers: JSON_HEADERS,
  body: JSON.stringify(body),
});

export const withHeaders = (answer: Answer, headers: Readonly<Record<string, string>>): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

/** Why a request is refused. The document shows no codes, so the names are the fake's own. */
export type RefusalKind =
  | "not-found"
  | "rate-limited"
  | "overloaded"
  | "query-malformed"
  | "parameter-repeated"
  | "parameter-unknown"
  | "content-type-unsupported"
  | "body-malformed"
  | "body-too-large"
  | "client-unknown"
  | "client-unauthenticated"
  | "redirect-uri-refused"
  | "state-refused"
  | "code-unknown"
  | "code-of-another-client"
  | "code-expired"
  | "code-used"
  | "refresh-token-unknown"
  | "refresh-token-of-another-client"
  | "refresh-token-expired"
  | "access-token-missing"
  | "access-token-unknown"
  | "access-token-expired"
  | "paging-refused"
  | "failure";

export interface Refusal {
  readonly kind: RefusalKind;
  /** For `rate-limited`: when to retry, in whole seconds. */
  readonly retryAfterSeconds?: number;
}

/** A redirect with the content of a JSON answer. */
export const redirectTo = (location: string): Answer => ({
  status: 302,
  headers: { location, "cache-control": "no-store" },
  body: "",
});

/** The query with code and state. */
export const codeAndState = (fields: Fields): string =>
  new URLSearchParams({ code: String(fields["code"]), state: String(fields["state"]) }).toString();

export const withCodeAndState = (address: string, fields: Fields): string => {
  const url = new URL(address);
  url.search += `${url.search === "" ? "?" : "&"}${codeAndState(fields)}`;
  return url.href;
};
