import { type Answer, jsonAnswer, type Refusal, withHeaders } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { parseQuery, rawQueryOf } from "../query.ts";
import { redirectTo } from "../redirect.ts";
import { type Variant, variant } from "../registry.ts";
import { refusalMessage } from "../sound/http.ts";

/** Refusals written in another way; being told to come back later stays what it is. */
const refusing =
  (render: (refusal: Refusal) => Answer) =>
  (sound: Behaviour): Pick<Behaviour, "renderRefusal"> => ({
    renderRefusal: (refusal, context) =>
      refusal.kind === "rate-limited" ? sound.renderRefusal(refusal, context) : render(refusal),
  });

const withStatus =
  (status: number) =>
  (sound: Behaviour): Pick<Behaviour, "renderRefusal"> => ({
    renderRefusal: (refusal, context) => ({ ...sound.renderRefusal(refusal, context), status }),
  });

const page = (status: number, refusal: Refusal): Answer => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html><title>Error</title><h1>Error</h1><p>${refusalMessage(refusal)}</p>`,
});

const empty = (status: number): Answer => ({ status, headers: {}, body: "" });

/** Refusals (section 7) where the document leaves room, which is everywhere. */
export const refusalVariants = {
  "refusals-with-status-200": variant(
    "Refusals have status 200 and a body with a number for the error called code.",
    refusing((refusal) =>
      jsonAnswer(200, { code: 40_001, message: refusalMessage(refusal), data: null, timestamp: 0 }),
    ),
  ),
  "refusals-with-text-in-code": variant(
    "Refusals have status 200 and a body with a name for the error called code.",
    refusing((refusal) =>
      jsonAnswer(200, {
        success: false,
        code: refusal.kind.toUpperCase().replaceAll("-", "_"),
        state: "failed",
      }),
    ),
  ),
  "refusals-with-null-fields": variant(
    "Refusals have status 200 and every field of a success, as null.",
    refusing(() =>
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
  ),
  "refusals-as-pages": variant(
    "Refusals are HTML pages with status 400.",
    refusing((refusal) => page(400, refusal)),
  ),
  "refusals-as-pages-with-status-200": variant(
    "Refusals are HTML pages with status 200.",
    refusing((refusal) => page(200, refusal)),
  ),
  "refusals-without-body": variant(
    "Refusals are a status 400 and nothing else.",
    refusing(() => empty(400)),
  ),
  "refusals-without-content": variant(
    "Refusals are a status 204.",
    refusing(() => empty(204)),
  ),
  "refusals-not-found": variant("Refusals have status 404.", withStatus(404)),
  "refusals-forbidden": variant("Refusals have status 403.", withStatus(403)),
  "refusals-unprocessable": variant("Refusals have status 422.", withStatus(422)),
  "refusals-as-problems": variant(
    "Refusals are problem details of RFC 9457.",
    refusing((refusal) =>
      withHeaders(jsonAnswer(400, { type: "about:blank", title: refusalMessage(refusal), status: 400 }), {
        "content-type": "application/problem+json",
      }),
    ),
  ),
  "refusals-sent-to-redirect-uri": variant(
    "A refused authorization is sent to the redirectUri with error and state (RFC 6749 section 4.1.2.1).",
    (sound) => ({
      renderRefusal: (refusal, context) => {
        if (context.operation !== "authorize" || refusal.kind !== "state-refused") {
          return sound.renderRefusal(refusal, context);
        }
        const values = parseQuery(rawQueryOf(context.from.url ?? ""))?.values;
        const url = new URL(values?.get("redirectUri") ?? "");
        url.searchParams.set("error", "invalid_request");
        url.searchParams.set("state", values?.get("state") ?? "");
        return redirectTo(url.href);
      },
    }),
  ),
  "refusals-with-challenge": variant(
    "Every refusal challenges as RFC 6750 says, with status 401.",
    (sound) => ({
      renderRefusal: (refusal, context) =>
        withHeaders(
          { ...sound.renderRefusal(refusal, context), status: 401 },
          { "www-authenticate": 'Bearer error="invalid_request"' },
        ),
    }),
  ),
} satisfies Record<string, Variant>;
