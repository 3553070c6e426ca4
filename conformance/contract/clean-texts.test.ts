import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSecrets, type SecretKind } from "./secrets.ts";

/** Values and what is made of them, so that texts hold them whole, in part, altered and encoded. */
const value = fc
  .tuple(fc.stringMatching(/^[a-zA-Z0-9_-]{4,44}$/), fc.constantFrom("", "/", "%2", " "))
  .map(([word, odd]) => `${word}${odd}`);
const kind = fc.constantFrom<SecretKind>("code", "access token", "cookie", "client secret", "passphrase");
const made = (text: string, how: number): string =>
  [
    text,
    text.slice(0, Math.ceil(text.length / 2)),
    text.slice(-Math.ceil(text.length * 0.75)),
    text.toUpperCase(),
    Buffer.from(text).toString("base64"),
    Buffer.from(`x${text}y`).toString("base64url"),
    Buffer.from(text).toString("hex"),
    encodeURIComponent(text),
    `a%41${Buffer.from(`ab${text}`).toString("base64")}`,
    text.replace(/./, (first) => `\\u${first.charCodeAt(0).toString(16).padStart(4, "0")}`),
  ][how] ?? text;

describe("texts without secrets", () => {
  it("are found unclean as soon as a secret in them is known, whatever was masked before", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, kind), { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(5), fc.nat(9), fc.constantFrom("", "application/json; ", "/open-api/v1/")), {
          minLength: 1,
          maxLength: 6,
        }),
        (values, picks) => {
          const texts = picks.map(([index, how, before]) => {
            const [text] = values[index % values.length] ?? ["text"];
            return `${before}${made(text, how)}`;
          });
          const used = createSecrets();
          used.conceal(randomBytes(24).toString("base64url"), "code");
          values.forEach(([text, of]) => {
            for (const one of texts) used.mask(one);
            used.conceal(text, of);
          });
          const fresh = createSecrets();
          fresh.conceal(randomBytes(24).toString("base64url"), "code");
          for (const [text, of] of values) fresh.conceal(text, of);
          for (const one of texts) expect(used.mask(one)).toBe(fresh.mask(one));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
