import type { IncomingMessage } from "node:http";
import { type Answer, jsonAnswer, withHeaders } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { fieldOf } from "../../conformance/contract/json.ts";
import type { JsonObject } from "../body.ts";
import type { CodeRecord, Grant, RefreshRecord } from "../context.ts";
import { change, decide, decisions, type Replacement, rows } from "../registry.ts";
import { lastOf } from "./tools.ts";

/** Parses JSON without checking what else a text may be; `text` may first repair it. */
const reading = (
  mended: (text: string) => string,
  chosen: (value: unknown) => unknown = (value) => value,
): Replacement =>
  decide("readBody", (raw) => {
    try {
      const value = chosen(JSON.parse(mended(raw.toString("utf8"))));
      return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
    } catch {
      return undefined;
    }
  });

const asItIs = (text: string): string => text;

/** Remembers each request's body for a refusal that may follow. */
const rememberingBodies = (
  sound: Behaviour,
): { readonly bodies: WeakMap<IncomingMessage, JsonObject>; readonly readBody: Behaviour["readBody"] } => {
  const bodies = new WeakMap<IncomingMessage, JsonObject>();
  const readBody: Behaviour["readBody"] = (raw, context) => {
    const body = sound.readBody(raw, context);
    if (body !== undefined) bodies.set(context.from, body);
    return body;
  };
  return { bodies, readBody };
};

const page = (status: number, body: string): Answer => ({
  status,
  headers: { "content-type": "text/html" },
  body,
});

/** Defects with invalid request bodies (section 4), and with refusals that say too much. */
export const bodyDefects = rows({
  "exchange.token-set": {
    "body-with-escapes-as-they-are: Escapes in the strings of a body are not decoded.": [
      reading((text) => text.replaceAll("\\", String.raw`\\`)),
      "refresh.token-set",
    ],
    "body-read-in-one-order: A body is accepted only if clientId comes first.": [
      reading((text) => (/^\s*\{\s*"clientId"/.test(text) ? text : "")),
      "refresh.token-set",
    ],
    "body-read-without-white-space: A body with white space before its first brace is refused.": [
      reading((text) => (text.startsWith("{") ? text : "")),
      "refresh.token-set",
    ],
  },
  "exchange.bad-bodies": {
    "body-with-repeated-keys: If a key is repeated, any value that is correct is used.": reading((text) => {
      const whole: unknown = JSON.parse(text);
      if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return text;
      const shortest: Record<string, unknown> = { ...whole };
      for (const [, key = "", value = ""] of text.matchAll(/"(\w+)":"([^"]*)"/g))
        if (typeof shortest[key] === "string" && value.length < shortest[key].length) shortest[key] = value;
      return JSON.stringify(shortest);
    }),
    "body-in-array: An array containing the object is accepted as the object.": reading(asItIs, (value) =>
      Array.isArray(value) ? value[0] : value,
    ),
    "body-in-string: A JSON string containing JSON is parsed again.": reading(asItIs, (value) =>
      typeof value === "string" ? (JSON.parse(value) as unknown) : value,
    ),
    "body-cut-short-completed: The missing closing brace of a truncated body is added.": reading((text) =>
      text.trimEnd().endsWith("}") ? text : `${text.replace(/[,\s]+$/, "")}}`,
    ),
    "body-with-rest-ignored: Anything after the first closing brace of a body is ignored.": reading((text) =>
      text.slice(0, text.indexOf("}") + 1),
    ),
    "body-as-form: A body that is not JSON is parsed as a form.": change(
      "readBody",
      (usual, raw) => usual ?? Object.fromEntries(new URLSearchParams(raw.toString("utf8"))),
    ),
    "body-with-loose-syntax: Single quotes and trailing commas are accepted in JSON.": reading((text) =>
      text.replaceAll("'", '"').replaceAll(/,\s*}/g, "}"),
    ),
    "body-with-inherited-fields: Fields inside __proto__ count as the body's own.": reading(
      asItIs,
      (value) => {
        const inherited = fieldOf(value, "__proto__");
        return typeof inherited === "object" ? { ...inherited, ...(value as JsonObject) } : value;
      },
    ),
    "body-that-is-bad-wedges-service: After a body that is not JSON, the next five exchanges are refused.":
      decisions((sound, wedged = 0) => ({
        readBody: (raw, context) => {
          const body = sound.readBody(raw, context);
          wedged = body === undefined ? 5 : wedged - 1;
          return wedged < 0 || body === undefined ? body : {};
        },
      })),
    "body-in-envelope: A field called data is accepted in place of the body.": reading(
      asItIs,
      (value) => (value as { readonly data?: unknown }).data ?? value,
    ),
    "body-of-15-kb-wedges-service: After a body of 15 kB, every later one is refused.": decisions(
      (sound, wedged = false) => ({
        readBody: (raw, context) => {
          wedged ||= raw.length > 15_000;
          return wedged ? undefined : sound.readBody(raw, context);
        },
      }),
    ),
  },
  "exchange.refusal-leaks-nothing": {
    "refusal-shows-secret: A refusal of an exchange contains the received fields.": decisions((sound) => {
      const { bodies, readBody } = rememberingBodies(sound);
      return {
        readBody,
        renderRefusal: (refusal, context) =>
          jsonAnswer(400, { error: refusal.kind, request: bodies.get(context.from) }),
      };
    }),
    "refusal-shows-right-secret: The refusal of a wrong secret contains the right one.": decisions(
      (sound) => {
        const { bodies, readBody } = rememberingBodies(sound);
        return {
          readBody,
          renderRefusal: (refusal, context) => {
            const answer = sound.renderRefusal(refusal, context);
            const client = context.clients.get(String(bodies.get(context.from)?.["clientId"]));
            return refusal.kind === "client-unauthenticated" && client !== undefined
              ? withHeaders(answer, { "x-debug": `expected ${client.secret}` })
              : answer;
          },
        };
      },
    ),
    "refusal-shows-tokens-of-code: The refusal of a used code contains the tokens it was exchanged for.": [
      decisions(
        (
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
      ),
      "code.single-use",
    ],
    "refusal-shows-stack: A refusal contains the stack trace of its error.": decide(
      "renderRefusal",
      (refusal) => {
        const { stack } = new Error(refusal.kind);
        return jsonAnswer(400, { error: refusal.kind, stack });
      },
    ),
    "refusal-shows-code-of-other-request: A refusal of an exchange contains the most recently issued code.":
      change("renderRefusal", (answer, refusal, context) =>
        refusal.kind === "code-unknown"
          ? jsonAnswer(400, { error: refusal.kind, known: [...context.credentials.codes.keys()].at(-1) })
          : answer,
      ),
    "refusal-shows-latest-token: A refusal of an exchange contains the most recently issued accessToken.":
      change("renderRefusal", (answer, _refusal, { operation, credentials }) =>
        operation === "exchange"
          ? { ...answer, body: JSON.stringify({ hint: `try ${lastOf(credentials.accessTokens)?.token}` }) }
          : answer,
      ),
    "refusal-repeats-request: A refusal with status 200 repeats the request body.": decisions(
      (sound, bodies = new WeakMap<IncomingMessage, string>()) => ({
        readBody: (raw, context) => {
          bodies.set(context.from, raw.toString("utf8"));
          return sound.readBody(raw, context);
        },
        renderRefusal: (_refusal, { from }) => page(200, `<p>cannot read ${bodies.get(from)}</p>`),
      }),
    ),
    "refusal-of-expired-code-shows-stack: An expired code is answered with status 500 and a stack trace.":
      change("renderRefusal", (answer, { kind }) =>
        kind === "code-expired"
          ? page(500, "<pre>Error: expired<br> &nbsp; &nbsp;at take (/srv/app/codes.js:40:11)</pre>")
          : answer,
      ),
  },
});
