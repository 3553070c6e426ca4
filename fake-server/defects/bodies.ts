import type { IncomingMessage } from "node:http";
import { fieldOf } from "../../conformance/contract/json.ts";
import { type Answer, jsonAnswer, type Refusal, withHeaders } from "../answer.ts";
import type { JsonObject } from "../requests.ts";
import { lastOf } from "../changes.ts";
import type { CodeRecord, Context, Grant, RefreshRecord } from "../context.ts";
import { change, keeping, type Replacement, rows, together } from "../registry.ts";

/** Parses JSON without checking what else a text may be; `text` may first repair it. */
const reading = (
  mended: (text: string) => string,
  chosen: (value: unknown) => unknown = (value) => value,
): Replacement => ({
  readBody: (raw) => {
    try {
      const value = chosen(JSON.parse(mended(raw.toString("utf8"))));
      return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
    } catch {
      return undefined;
    }
  },
});

/** Takes another value than that of the whole body. */
const taking = (chosen: (value: unknown) => unknown): Replacement => reading((text) => text, chosen);

const formIn = (text: string): JsonObject => Object.fromEntries(new URLSearchParams(text));

/** Also reads bodies of another content type. */
const declaredAs = (type: string, read: (text: string) => JsonObject): Replacement =>
  change("readBody", (usual, raw, { from }) =>
    from.headers["content-type"]?.startsWith(type) === true ? read(raw.toString("utf8")) : usual,
  );

/** Refusals that may depend on the request's body. */
const refusingBody = (
  render: (answer: Answer, refusal: Refusal, context: Context, body: JsonObject | undefined) => Answer,
): Replacement =>
  keeping((bodies = new WeakMap<IncomingMessage, JsonObject>()) =>
    together(
      change("readBody", (body, _raw, { from }) => {
        if (body !== undefined) bodies.set(from, body);
        return body;
      }),
      change("renderRefusal", (answer, refusal, context) =>
        render(answer, refusal, context, bodies.get(context.from)),
      ),
    ),
  );

const page = (status: number, body: string): Answer => ({
  status,
  headers: { "content-type": "text/html" },
  body,
});

/** Defects with invalid request bodies (section 4), and with refusals that say too much. */
export const bodyDefects = rows({
  "exchange.bad-bodies": {
    "body-with-repeated-keys: If a key is repeated, any value that is correct is used.": reading((text) => {
      const whole: unknown = JSON.parse(text);
      if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return text;
      const shortest: Record<string, unknown> = { ...whole };
      for (const [, key = "", value = ""] of text.matchAll(/"(\w+)":"([^"]*)"/g))
        if (typeof shortest[key] === "string" && value.length < shortest[key].length) shortest[key] = value;
      return JSON.stringify(shortest);
    }),
    "body-in-array: An array containing the object is accepted as the object.": taking((value) =>
      Array.isArray(value) ? value[0] : value,
    ),
    "body-in-string: A JSON string containing JSON is parsed again.": taking((value) =>
      typeof value === "string" ? (JSON.parse(value) as unknown) : value,
    ),
    "body-cut-short-completed: The missing closing brace of a truncated body is added.": reading((text) =>
      text.trimEnd().endsWith("}") ? text : `${text.replace(/[,\s]+$/, "")}}`,
    ),
    "body-of-lines: A body of lines, each a name, a colon and a value, is read as the object.": reading(
      (text) =>
        /^(\w+: .*\n)+$/.test(text)
          ? JSON.stringify(formIn(text.replaceAll(": ", "=").replaceAll("\n", "&")))
          : text,
    ),
    "body-as-form: A body that is not JSON is parsed as a form.": change(
      "readBody",
      (usual, raw) => usual ?? formIn(raw.toString("utf8")),
    ),
    "body-as-declared-form: A body that is declared as a form is parsed as one.": declaredAs(
      "application/x-www-form-urlencoded",
      formIn,
    ),
    "body-as-declared-form-in-parts: A body that is declared as multipart/form-data is parsed as that.":
      declaredAs("multipart/form-data", (text) =>
        Object.fromEntries(
          [...text.matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/g)].map(([, name = "", value = ""]) => [
            name,
            value,
          ]),
        ),
      ),
    "body-with-loose-syntax: Single quotes and trailing commas are accepted in JSON.": reading((text) =>
      text.replaceAll("'", '"').replaceAll(/,\s*}/g, "}"),
    ),
    "body-with-inherited-fields: Fields inside __proto__ count as the body's own.": taking((value) => {
      const inherited = fieldOf(value, "__proto__");
      return typeof inherited === "object" ? { ...inherited, ...(value as JsonObject) } : value;
    }),
    "body-that-is-bad-wedges-service: After a body that is not JSON, the next five exchanges are refused.":
      keeping((wedged = 0) =>
        change("readBody", (body) => {
          wedged = body === undefined ? 5 : wedged - 1;
          return wedged < 0 || body === undefined ? body : {};
        }),
      ),
    "body-in-envelope: A field called data is accepted in place of the body.": taking(
      (value) => (value as { readonly data?: unknown }).data ?? value,
    ),
    "body-of-15-kb-wedges-service: After a body of 15 kB, every later one is refused.": keeping(
      (wedged = false) =>
        change("readBody", (body, raw) => {
          wedged ||= raw.length > 15_000;
          return wedged ? undefined : body;
        }),
    ),
  },
  "exchange.refusal-leaks-nothing": {
    "refusal-shows-secret: A refusal of an exchange contains the received fields.": refusingBody(
      (_answer, { kind }, _context, request) => jsonAnswer(400, { error: kind, request }),
    ),
    "refusal-shows-right-secret: The refusal of a wrong secret contains the right one.": refusingBody(
      (answer, { kind }, { clients }, body) => {
        const client = clients.get(String(body?.["clientId"]));
        return kind === "client-unauthenticated" && client !== undefined
          ? withHeaders(answer, { "x-debug": `expected ${client.secret}` })
          : answer;
      },
    ),
    "refusal-shows-secret-in-base64: Refusals show the secrets of all clients in base64.": change(
      "renderRefusal",
      (answer, _refusal, { clients }) =>
        withHeaders(answer, {
          "x-debug": [...clients.values()].map(({ secret }) => btoa(secret)).join(" "),
        }),
    ),
    "refusal-shows-stack: A refusal contains the stack trace of its error.": {
      renderRefusal: ({ kind }) => jsonAnswer(400, { error: kind, stack: new Error(kind).stack }),
    },
    "refusal-shows-code-of-other-request: A refusal of an exchange contains the most recently issued code.":
      change("renderRefusal", (answer, refusal, context) =>
        refusal.kind === "code-unknown"
          ? jsonAnswer(400, { error: refusal.kind, known: lastOf(context.credentials.codes)?.code })
          : answer,
      ),
    "refusal-shows-latest-token: A refusal of an exchange contains the most recently issued accessToken.":
      change("renderRefusal", (answer, _refusal, { operation, credentials }) =>
        operation === "exchange"
          ? { ...answer, body: JSON.stringify({ hint: `try ${lastOf(credentials.accessTokens)?.token}` }) }
          : answer,
      ),
    "refusal-repeats-request: A refusal with status 200 repeats the request body.": keeping(
      (bodies = new WeakMap<IncomingMessage, string>()) =>
        together(
          change("readBody", (body, raw, { from }) => {
            bodies.set(from, raw.toString("utf8"));
            return body;
          }),
          { renderRefusal: (_refusal, { from }) => page(200, `<p>cannot read ${bodies.get(from)}</p>`) },
        ),
    ),
    "refusal-of-expired-code-shows-stack: An expired code is answered with status 500 and a stack trace.":
      change("renderRefusal", (answer, { kind }) =>
        kind === "code-expired"
          ? page(500, "<pre>Error: expired<br> &nbsp; &nbsp;at take (/srv/app/codes.js:40:11)</pre>")
          : answer,
      ),
  },
  "exchange.refusal-leaks-nothing code.single-use": {
    "refusal-shows-tokens-of-code: The refusal of a used code contains the tokens it was exchanged for.": (
      sound,
      tokens = new WeakMap<Grant, RefreshRecord>(),
      refused = new WeakMap<IncomingMessage, CodeRecord>(),
    ) => ({
      afterExchange: (record, given) => {
        if (record.grant !== undefined) tokens.set(record.grant, given);
      },
      afterRefusedExchange: (record, _kind, context) => {
        if (record !== undefined) refused.set(context.from, record);
      },
      renderRefusal: (refusal, context) => {
        const grant = refused.get(context.from)?.grant;
        const given = grant === undefined ? undefined : tokens.get(grant);
        if (refusal.kind !== "code-used" || given === undefined) {
          return sound.renderRefusal(refusal, context);
        }
        const { token, latestAccess } = given;
        return jsonAnswer(409, { error: "used", refreshToken: token, accessToken: latestAccess.token });
      },
    }),
  },
});
