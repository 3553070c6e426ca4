import {
  type Answer,
  codeAndState,
  jsonAnswer,
  redirectTo,
  type Refusal,
  withCodeAndState,
  withHeaders,
} from "../answer.ts";
import { unregistered } from "../clients.ts";
import { parseQuery, rawQueryOf, rawValueOf } from "../requests.ts";
import { alsoIf, change, onlyIf, type Part, type Replacement, together, variantRows } from "../registry.ts";
import { refusalMessage } from "../sound.ts";

const redirecting = (status: number): Replacement => ({
  renderAuthorized: (fields, redirectUri) => ({
    ...redirectTo(withCodeAndState(redirectUri, fields)),
    status,
  }),
});

const betweenBlanks = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `  ${value} \t `]));

/** The text and the status of refusals, and of those for too many requests. */
const [TEXT, STATUS] = ["renderRefusal.text", "renderRefusal.status"] as const;
const [LIMITED_TEXT, LIMITED_STATUS] = [
  "renderRefusal.limited.text",
  "renderRefusal.limited.status",
] as const;

/** Refusals in a different form; "try again later" stays unchanged. */
const refusing = (
  render: (refusal: Refusal) => Answer,
  changes: readonly Part[] = [TEXT, STATUS],
): readonly [Replacement, ...Part[]] => [
  change("renderRefusal", (answer, refusal) => (refusal.kind === "rate-limited" ? answer : render(refusal))),
  ...changes,
];

const withStatus = (status: number): readonly [Replacement, ...Part[]] => [
  change("renderRefusal", (answer) => ({ ...answer, status })),
  STATUS,
  LIMITED_STATUS,
];

const page = (status: number, refusal: Refusal): Answer => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html><title>Error</title><h1>Error</h1><p>${refusalMessage(refusal)}</p>`,
});

const empty = (status: number): Answer => ({ status, headers: {}, body: "" });

/** Variants of the authorize answer (section 4.1), and of refusals (section 7), which the document leaves entirely open. */
export const answerVariants = variantRows({
  "redirect-302: The code comes in a redirect with status 302.": redirecting(302),
  "redirect-303: The code comes in a redirect with status 303.": redirecting(303),
  "redirect-307: The code comes in a redirect with status 307.": redirecting(307),
  "redirect-between-blanks: The code comes in a redirect, and blanks surround the value of every header.":
    together(redirecting(302), {
      finish: (answer) => ({ ...answer, headers: betweenBlanks(answer.headers) }),
    }),
  "redirect-with-json-body: The redirect also carries the JSON answer as its body.": {
    renderAuthorized: (fields, redirectUri) => {
      const { status, headers } = redirectTo(withCodeAndState(redirectUri, fields));
      const json = jsonAnswer(status, fields);
      return { ...json, headers: { ...json.headers, ...headers } };
    },
  },
  "redirect-with-timestamp: The redirect carries the timestamp and further parameters.": {
    renderAuthorized: (fields, redirectUri) => {
      const url = new URL(withCodeAndState(redirectUri, fields));
      url.searchParams.set("timestamp", String(fields["timestamp"]));
      url.searchParams.set("iss", "https://service.example");
      return redirectTo(url.href);
    },
  },
  "redirect-sorted-by-name: The redirect writes all parameters of its query sorted by name.": {
    renderAuthorized: (fields, redirectUri) => {
      const url = new URL(withCodeAndState(redirectUri, fields));
      url.searchParams.sort();
      return redirectTo(url.href);
    },
  },
  "authorize-created: The JSON answer has status 201.": {
    renderAuthorized: (fields) => jsonAnswer(201, fields),
  },
  "authorize-any-redirect-uri: An unregistered redirectUri also gets the JSON answer.": {
    acceptsRedirectUri: () => true,
  },
  "authorize-any-client: An unknown client also gets a code, which nobody can exchange.": {
    findClientToAuthorize: (id, clients) =>
      (id === undefined ? undefined : clients.get(id)) ?? unregistered(id, clients),
  },
  "authorize-without-state: A request without a state is answered with an empty one.": alsoIf(
    "acceptsState",
    (state) => state === undefined || state === "",
  ),
  "state-counted-before-decoding: The state's 128 bytes are counted before decoding.": onlyIf(
    "acceptsState",
    (_state, query, context) => (rawValueOf(query, "state") ?? "").length <= context.limits.stateMaxBytes,
  ),
  "redirect-303-with-fragment: The code is in the fragment of a redirect with status 303.": {
    renderAuthorized: (fields, redirectUri) => ({
      ...redirectTo(`${new URL(redirectUri).href}#${codeAndState(fields)}`),
      status: 303,
    }),
  },
  "redirect-uri-letter-for-letter: The redirectUri must equal the registered one, character by character.": {
    acceptsRedirectUri: (redirectUri, client) => redirectUri === client.redirectUri,
  },
  "state-encoded-refused: A percent-encoded state is refused.": onlyIf("acceptsState", (state, { raw }) =>
    raw.includes(`state=${state}`),
  ),

  "refusals-with-status-200: Refusals have status 200 and a body with a numeric code for the error.":
    refusing((refusal) =>
      jsonAnswer(200, { code: 40_001, message: refusalMessage(refusal), data: null, timestamp: 0 }),
    ),
  "refusals-with-text-in-code: Refusals have status 200 and a body with a textual code for the error.":
    refusing((refusal) =>
      jsonAnswer(200, {
        success: false,
        code: refusal.kind.toUpperCase().replaceAll("-", "_"),
        state: "failed",
      }),
    ),
  "refusals-with-null-fields: Refusals have status 200 and every field of a success, as null.": refusing(() =>
    jsonAnswer(200, {
      code: null,
      state: null,
      accessToken: null,
      refreshToken: null,
      expiresIn: null,
      data: null,
      total: null,
    }),
  ),
  "refusals-as-pages: Refusals are HTML with status 400.": refusing((refusal) => page(400, refusal), [TEXT]),
  "refusals-as-pages-with-status-200: Refusals are HTML pages with status 200.": refusing((refusal) =>
    page(200, refusal),
  ),
  "refusals-without-body: Refusals are only a status 400.": refusing(() => empty(400)),
  "refusals-without-content: Refusals are only a status 204.": refusing(() => empty(204)),
  "refusals-as-problems: Refusals are problem details of RFC 9457.": refusing((refusal) =>
    withHeaders(jsonAnswer(400, { type: "about:blank", title: refusalMessage(refusal), status: 400 }), {
      "content-type": "application/problem+json",
    }),
  ),
  "refusals-sent-to-redirect-uri: A refused authorization redirects with error and state (RFC 6749 4.1.2.1).":
    change("renderRefusal", (answer, refusal, context) => {
      if (context.operation !== "authorize" || refusal.kind !== "state-refused") {
        return answer;
      }
      const values = parseQuery(rawQueryOf(context.from.url ?? ""))?.values;
      const url = new URL(values?.get("redirectUri") ?? "");
      url.searchParams.set("error", "invalid_request");
      url.searchParams.set("state", values?.get("state") ?? "");
      return redirectTo(url.href);
    }),
  "refusals-with-challenge: Every refusal has status 401 and a challenge as in RFC 6750.": change(
    "renderRefusal",
    (answer) =>
      withHeaders({ ...answer, status: 401 }, { "www-authenticate": 'Bearer error="invalid_request"' }),
  ),
  "refusals-in-page-envelope: Refusals have status 401 and the envelope of an empty page.": refusing(() =>
    jsonAnswer(401, { data: [], total: 0 }),
  ),
  "strangers-own-nothing: A list request without a live token gets an empty page with status 200.": change(
    "renderRefusal",
    (answer, { kind }) =>
      kind.startsWith("access-token") ? jsonAnswer(200, { data: [], total: 0 }) : answer,
  ),
  "refusals-with-empty-data: A list request that nothing matches is refused; refusals have status 200, a code and empty data.":
    [
      (sound) => ({
        servesPage: (_paging, matched) => matched > 0,
        renderRefusal: (refusal, context) =>
          refusal.kind === "rate-limited"
            ? sound.renderRefusal(refusal, context)
            : jsonAnswer(200, { code: 40_001, data: [] }),
      }),
      "servesPage",
      TEXT,
      STATUS,
    ],
  "refusals-with-digits-in-code: Refusals have status 200, a code field of digits, and an empty state.":
    refusing(() => jsonAnswer(200, { code: "40001", state: "", message: "refused" })),
  "refusals-like-token-sets: Refusals have status 200 and a token set's fields without tokens.": refusing(
    () => jsonAnswer(200, { code: "40001", accessToken: "", refreshToken: null, message: "invalid_grant" }),
  ),
  "refusals-show-code-sent: Refusals are pages that show their own id and the received code.": [
    (sound, presented = new WeakMap<object, unknown>()) => ({
      findCode: (value, context) => {
        presented.set(context.from, value);
        return sound.findCode(value, context);
      },
      renderRefusal: ({ kind }, { from, random }) => ({
        status: 400,
        headers: { "content-type": "text/html" },
        body: `<p>${kind} ${String(presented.get(from))} (${random.uuid()})</p>`,
      }),
    }),
    "findCode",
    TEXT,
    LIMITED_TEXT,
  ],
  "refusals-show-address-sent: Refusals name the requested address.": [
    {
      renderRefusal: (_refusal, { from }) =>
        jsonAnswer(400, { message: `There is nothing at ${from.url} for this method.` }),
    },
    TEXT,
    LIMITED_TEXT,
  ],
  // After those that change the text, which stays when only the status changes.
  "refusals-not-found: Refusals have status 404.": withStatus(404),
  "refusals-forbidden: Refusals have status 403.": withStatus(403),
  "refusals-unprocessable: Refusals have status 422.": withStatus(422),
});
