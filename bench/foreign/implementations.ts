import { go, python, rust, startNodeService, type ForeignImplementation } from "./services.ts";

/** RFC 6749 appendix A.5 allows every visible ASCII character in a state and sets no length; none of the libraries checks it. */
const anyState = {
  "authorize.state-charset": {
    seen: /U\+[\dA-F]{4}.*: it got a code that can be exchanged/,
    theirs: "a state is echoed whatever it holds (RFC 6749 appendix A.5)",
  },
  "authorize.state-length": {
    seen: /^it got a code that can be exchanged/,
    theirs: "a state may have any length (RFC 6749 sets none)",
  },
} as const;

const codeIsGone = {
  "code.reuse-revokes-tokens": {
    seen: /^its access token still worked after the second exchange, which got status 40[01], .*invalid_grant/,
    theirs:
      "a used code is deleted, so that its reuse cannot be told from a code that never was (RFC 6749 4.1.2 is a SHOULD)",
  },
} as const;

/** Two exchanges of one code at the same time. */
const raced = /^more than one of \d+ concurrent exchanges of one code got tokens/;

const ofDjangoToolkit: ForeignImplementation["examined"] = {
  ...anyState,
  ...codeIsGone,
  "refresh.lifetime": {
    seen: /^accepted at an age of at least 30 d/,
    theirs:
      "REFRESH_TOKEN_EXPIRE_SECONDS is looked at by the clean-up command alone: until that runs, refresh tokens work for ever",
  },
  "refresh.lifetime-is-from-issue": {
    seen: /^accepted at an age of at least 30 d/,
    theirs: "the same: refresh tokens have no end",
  },
  "refresh.reauthorize": {
    seen: /the refreshToken works beyond its 30 days/,
    theirs: "the same: the need to authorize again never comes",
  },
  "lifecycle.model": { seen: /^it succeeded: status 200/, theirs: "the same, found by a random history" },
  "refresh.reusable": {
    seen: /^one was refused: status 500, .*DoesNotExist/,
    theirs:
      "the token view looks up the access token that it has just made (views/base.py, for a signal); of two refreshes at the same time the second has overwritten it, and the first ends with status 500",
  },
};

export const foreignImplementations: readonly ForeignImplementation[] = [
  {
    name: "@node-oauth/oauth2-server 5.3.0",
    language: "JavaScript",
    start: startNodeService,
    examined: {
      ...anyState,
      ...codeIsGone,
      "service.survives-bad-input": {
        seen: /with (clientId|code) [[{].* got status 503/,
        theirs:
          "a clientId or code that is a list or an object passes its format check as text, and the store fails on it",
      },
    },
  },
  {
    name: "django-oauth-toolkit 3.4.1",
    language: "Python",
    start: python("django_toolkit"),
    examined: ofDjangoToolkit,
  },
  {
    name: "django-oauth-toolkit 3.4.1 guarded by django-axes 8.3.1",
    language: "Python",
    start: python("django_axes"),
    examined: {
      ...ofDjangoToolkit,
      "code.single-use": {
        seen: /^1 of \d+ cases could not be decided: the service keeps asking to retry later/,
        theirs:
          "a used code that is presented more than ten times in a row locks its client out, with status 429 (AXES_FAILURE_LIMIT, AXES_HTTP_RESPONSE_CODE)",
      },
    },
  },
  {
    name: "Authlib 1.9.9",
    language: "Python",
    start: async (place) => {
      const { profile, stop } = await python("authlib_flask")(place);
      return { stop, profile: { ...profile, limits: { codeLifetimeMs: 300_000 } } };
    },
    examined: {
      ...anyState,
      ...codeIsGone,
      "code.single-use-under-race": {
        seen: raced,
        theirs:
          "the code is looked up, tokens are made, and only then is it deleted: nothing keeps two exchanges apart",
      },
      "service.survives-bad-input": {
        seen: /clientSecret ".*[^\0-~].*" got status 500/,
        theirs: "a client secret with a character beyond ASCII makes its comparison raise TypeError",
      },
    },
  },
  {
    name: "go-oauth2/oauth2 4.5.4",
    language: "Go",
    start: go,
    examined: {
      ...anyState,
      ...codeIsGone,
      "code.single-use-under-race": {
        seen: raced,
        theirs:
          "getAndDelAuthorizationCode reads the code and deletes it in two steps; a deletion that finds nothing is no error",
      },
      "refresh.unknown-client": {
        seen: /clientId: it yielded a working accessToken/,
        theirs: "a refresh goes by the refresh token alone: the client is not looked at",
      },
      "refresh.bound-to-client": {
        seen: /it yielded a working accessToken/,
        theirs: "the same, with another client's id",
      },
      "access.lifetime": {
        seen: /^refused at an age of at most 59 min/,
        theirs:
          "the same as in lifecycle.model: the last of a history of refreshes ends near the end of the refresh token",
      },
      "lifecycle.model": {
        seen: /^it was refused/,
        theirs:
          "an access token that is refreshed near the end of the refresh token dies with it, although expiresIn says an hour (store/token.go shortens its life)",
      },
    },
  },
  {
    name: "oxide-auth 0.6.1",
    language: "Rust",
    start: rust,
    examined: {
      ...anyState,
      "code.reuse-revokes-tokens": {
        seen: /^its access token still worked after the second exchange, which got status 400, .*invalid_request/,
        theirs:
          "AuthMap.extract removes the code (primitives/authorizer.rs), so that its reuse cannot be told from a code that never was",
      },
      "exchange.no-store": {
        seen: /^the answer to a valid exchange has no Cache-Control/,
        theirs:
          "its responses (the trait WebResponse in endpoint/mod.rs) have no such header, and no front end of its own adds it",
      },
    },
  },
];
