import { codeAndState, jsonAnswer, redirectTo, withCodeAndState } from "../answer.ts";
import { unregistered } from "../clients.ts";
import { rawValueOf } from "../query.ts";
import { alsoIf, onlyIf, type Replacement, together, variantRows } from "../registry.ts";

const redirecting = (status: number): Replacement => ({
  renderAuthorized: (fields, redirectUri) => ({
    ...redirectTo(withCodeAndState(redirectUri, fields)),
    status,
  }),
});

const betweenBlanks = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `  ${value} \t `]));

/** Variants of the authorize answer (section 4.1). */
export const authorizeVariants = variantRows({
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
});
