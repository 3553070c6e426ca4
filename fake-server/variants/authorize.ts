import { jsonAnswer } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { redirectTo, withCodeAndState } from "../redirect.ts";
import { rawValueOf } from "../query.ts";
import { type Variant, variant } from "../registry.ts";

const redirecting = (status: number) => (): Pick<Behaviour, "renderAuthorized"> => ({
  renderAuthorized: (fields, redirectUri) => ({
    ...redirectTo(withCodeAndState(redirectUri, fields)),
    status,
  }),
});

/** The authorize answer (section 4.1) where the document leaves room. */
export const authorizeVariants = {
  "redirect-302": variant("The code comes in a redirect with status 302.", redirecting(302)),
  "redirect-303": variant("The code comes in a redirect with status 303.", redirecting(303)),
  "redirect-307": variant("The code comes in a redirect with status 307.", redirecting(307)),
  "redirect-with-json-body": variant("The redirect carries the JSON answer as its body too.", () => ({
    renderAuthorized: (fields, redirectUri) => {
      const { status, headers } = redirectTo(withCodeAndState(redirectUri, fields));
      const json = jsonAnswer(status, fields);
      return { ...json, headers: { ...json.headers, ...headers } };
    },
  })),
  "redirect-with-timestamp": variant("The redirect carries the timestamp and further parameters.", () => ({
    renderAuthorized: (fields, redirectUri) => {
      const url = new URL(withCodeAndState(redirectUri, fields));
      url.searchParams.set("timestamp", String(fields["timestamp"]));
      url.searchParams.set("iss", "https://service.example");
      return redirectTo(url.href);
    },
  })),
  "authorize-created": variant("The JSON answer has status 201.", () => ({
    renderAuthorized: (fields) => jsonAnswer(201, fields),
  })),
  "authorize-any-redirect-uri": variant(
    "A redirectUri that is not registered gets the JSON answer all the same.",
    () => ({
      acceptsRedirectUri: () => true,
    }),
  ),
  "authorize-without-state": variant("A request without a state is served, with an empty one.", (sound) => ({
    acceptsState: (state, query, context) =>
      state === undefined || state === "" || sound.acceptsState(state, query, context),
  })),
  "state-counted-before-decoding": variant(
    "The 128 bytes of the state are counted as they stand in the query.",
    (sound) => ({
      acceptsState: (state, query, context) =>
        sound.acceptsState(state, query, context) &&
        (rawValueOf(query, "state") ?? "").length <= context.limits.stateMaxBytes,
    }),
  ),
} satisfies Record<string, Variant>;
