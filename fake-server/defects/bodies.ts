import type { IncomingMessage } from "node:http";
import { jsonAnswer, withHeaders } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { fieldOf, type JsonObject } from "../body.ts";
import type { CodeRecord, Grant, RefreshRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";

/** JSON read without any care for what else a text may be; `text` may be mended first. */
const reading =
  (mended: (text: string) => string, chosen: (value: unknown) => unknown = (value) => value) =>
  (): Pick<Behaviour, "readBody"> => ({
    readBody: (raw) => {
      try {
        const value = chosen(JSON.parse(mended(raw.toString("utf8"))));
        return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
      } catch {
        return undefined;
      }
    },
  });

const asItIs = (text: string): string => text;

/** Remembers the body of each request for the refusal that may follow. */
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

/** Request bodies that are none (section 4), and refusals that say too much. */
export const bodyDefects = {
  "body-with-repeated-keys": defect(
    "Of a repeated key whichever value fits is taken.",
    ["exchange.bad-bodies"],
    reading((text) => {
      const shortest: Record<string, string> = {};
      for (const [, key = "", value = ""] of text.matchAll(/"(\w+)":"([^"]*)"/g))
        if (value.length < (shortest[key]?.length ?? Infinity)) shortest[key] = value;
      return Object.keys(shortest).length > 0 ? JSON.stringify(shortest) : text;
    }),
  ),
  "body-in-array": defect(
    "An array that holds the object is taken for the object.",
    ["exchange.bad-bodies"],
    reading(asItIs, (value) => (Array.isArray(value) ? value[0] : value)),
  ),
  "body-in-string": defect(
    "A JSON string that holds JSON is read once more.",
    ["exchange.bad-bodies"],
    reading(asItIs, (value) => (typeof value === "string" ? (JSON.parse(value) as unknown) : value)),
  ),
  "body-cut-short-completed": defect(
    "The brace that a truncated body lacks is added.",
    ["exchange.bad-bodies"],
    reading((text) => (text.trimEnd().endsWith("}") ? text : `${text.replace(/[,\s]+$/, "")}}`)),
  ),
  "body-with-rest-ignored": defect(
    "What follows the first closing brace of a body is ignored.",
    ["exchange.bad-bodies"],
    reading((text) => text.slice(0, text.indexOf("}") + 1)),
  ),
  "body-as-form": defect("A body that is no JSON is read as a form.", ["exchange.bad-bodies"], (sound) => ({
    readBody: (raw, context) =>
      sound.readBody(raw, context) ?? Object.fromEntries(new URLSearchParams(raw.toString("utf8"))),
  })),
  "body-with-loose-syntax": defect(
    "Single quotes and trailing commas pass for JSON.",
    ["exchange.bad-bodies"],
    reading((text) => text.replaceAll("'", '"').replaceAll(/,\s*}/g, "}")),
  ),
  "body-with-inherited-fields": defect(
    "Fields inside __proto__ count as the body's own.",
    ["exchange.bad-bodies"],
    reading(asItIs, (value) => {
      const inherited = fieldOf(value as JsonObject, "__proto__");
      return typeof inherited === "object" ? { ...inherited, ...(value as JsonObject) } : value;
    }),
  ),
  "body-that-is-bad-wedges-service": defect(
    "After a body that is no JSON the next five exchanges are refused.",
    ["exchange.bad-bodies"],
    (sound) => {
      let wedged = 0;
      return {
        readBody: (raw, context) => {
          const body = sound.readBody(raw, context);
          wedged = body === undefined ? 5 : wedged - 1;
          return wedged < 0 || body === undefined ? body : {};
        },
      };
    },
  ),

  "refusal-shows-secret": defect(
    "A refused exchange is answered with the fields that came.",
    ["exchange.refusal-leaks-nothing"],
    (sound) => {
      const { bodies, readBody } = rememberingBodies(sound);
      return {
        readBody,
        renderRefusal: (refusal, context) =>
          jsonAnswer(400, { error: refusal.kind, request: bodies.get(context.from) }),
      };
    },
  ),
  "refusal-shows-right-secret": defect(
    "A wrong secret is answered with the right one.",
    ["exchange.refusal-leaks-nothing"],
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
  "refusal-shows-tokens-of-code": defect(
    "A used code is refused with the tokens that it gave.",
    ["exchange.refusal-leaks-nothing", "code.single-use"],
    (sound) => {
      const tokens = new WeakMap<Grant, RefreshRecord>();
      const refused = new WeakMap<IncomingMessage, CodeRecord>();
      return {
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
      };
    },
  ),
  "refusal-shows-stack": defect(
    "A refusal carries the stack of the error behind it.",
    ["exchange.refusal-leaks-nothing"],
    () => ({
      renderRefusal: (refusal) => {
        const { stack } = new Error(refusal.kind);
        return jsonAnswer(400, { error: refusal.kind, stack });
      },
    }),
  ),
  "refusal-shows-code-of-other-request": defect(
    "A refused exchange names the code that was issued last.",
    ["exchange.refusal-leaks-nothing"],
    (sound) => ({
      renderRefusal: (refusal, context) =>
        refusal.kind === "code-unknown"
          ? jsonAnswer(400, { error: refusal.kind, known: [...context.credentials.codes.keys()].at(-1) })
          : sound.renderRefusal(refusal, context),
    }),
  ),
} satisfies Record<string, Defect>;
