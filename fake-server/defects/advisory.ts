import type { Answer } from "../answer.ts";
import { type Defect, defect } from "../registry.ts";
import { redirectTo, withCodeAndState } from "../redirect.ts";

const withoutHeader = (answer: Answer, name: string): Answer => ({
  ...answer,
  headers: Object.fromEntries(Object.entries(answer.headers).filter(([header]) => header !== name)),
});

/** Services that keep the document and go against the advice of the standards: a warning, not a failure. */
export const advisoryDefects = {
  "advice-redirects-anywhere": defect(
    "The code is sent to whatever redirectUri is named.",
    ["authorize.unregistered-redirect"],
    () => ({
      acceptsRedirectUri: (redirectUri) => URL.canParse(redirectUri ?? ""),
      renderAuthorized: (fields, redirectUri) => redirectTo(withCodeAndState(redirectUri, fields)),
    }),
  ),
  "advice-redirects-to-prefix": defect(
    "A redirectUri that begins with the registered one is taken for it.",
    ["authorize.unregistered-redirect"],
    () => ({
      acceptsRedirectUri: (redirectUri, client) =>
        redirectUri !== undefined &&
        URL.canParse(redirectUri) &&
        redirectUri.startsWith(client.redirectUri.split("?")[0] ?? ""),
      renderAuthorized: (fields, redirectUri) => redirectTo(withCodeAndState(redirectUri, fields)),
    }),
  ),
  "advice-codes-short": defect("Codes have ten digits.", ["authorize.code-entropy"], () => ({
    mintCode: (_client, _state, { random }) => String(random.uint32()).padStart(10, "0"),
  })),
  "advice-codes-counted": defect(
    "Codes are a number that goes up by one, behind a common prefix.",
    ["authorize.code-entropy"],
    () => {
      let issued = 0;
      return { mintCode: () => `code-${String((issued += 1)).padStart(40, "0")}` };
    },
  ),
  "advice-code-of-other-client-accepted": defect(
    "A client may exchange the code of another.",
    ["code.bound-to-client"],
    () => ({ codeBelongsTo: () => true }),
  ),
  "advice-reuse-without-consequence": defect(
    "The tokens of a code outlive its second presentation.",
    ["code.reuse-revokes-tokens"],
    () => ({ afterRefusedExchange: () => undefined }),
  ),
  "advice-answers-may-be-stored": defect(
    "Nothing forbids caches to store tokens.",
    ["exchange.no-store"],
    () => ({ finish: (answer) => withoutHeader(answer, "cache-control") }),
  ),
  "advice-tokens-counted": defect(
    "Access tokens are a number that goes up by one.",
    ["exchange.token-entropy"],
    () => {
      let issued = 1_000_000;
      return { mintAccessToken: () => `token-${(issued += 1)}` };
    },
  ),
  "advice-refresh-token-of-other-client-accepted": defect(
    "A client may use the refreshToken of another.",
    ["refresh.bound-to-client"],
    () => ({ refreshTokenBelongsTo: () => true }),
  ),
  "advice-bad-input-fails-service": defect(
    "Input that cannot be read is answered with 500.",
    ["service.survives-bad-input"],
    (sound) => ({
      renderRefusal: (refusal, context) => {
        const answer = sound.renderRefusal(refusal, context);
        return refusal.kind.endsWith("-malformed") ? { ...answer, status: 500 } : answer;
      },
    }),
  ),
  "advice-bad-input-drops-connection": defect(
    "Input that cannot be read makes the service drop the connection.",
    ["service.survives-bad-input"],
    (sound) => ({
      renderRefusal: (refusal, context) => {
        if (refusal.kind.endsWith("-malformed")) context.from.socket.destroy();
        return sound.renderRefusal(refusal, context);
      },
    }),
  ),
  "advice-pages-show-internals": defect(
    "The answer for an unknown path shows a stack trace with paths of the machine.",
    ["service.leaks-nothing"],
    (sound) => ({
      renderRefusal: (refusal, context) => {
        if (refusal.kind !== "not-found" && refusal.kind !== "query-malformed") {
          return sound.renderRefusal(refusal, context);
        }
        const { stack } = new Error(refusal.kind);
        return { status: 400, headers: { "content-type": "text/plain" }, body: stack ?? "" };
      },
    }),
  ),
} satisfies Record<string, Defect>;
