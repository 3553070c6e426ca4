import { expect, test } from "vitest";
import { isSameClientId, isSameCredential, nearMisses, otherCharacter } from "./credentials.ts";

test("otherCharacter changes the decoded bytes even at the end of base64", () => {
  const bytes = Buffer.alloc(16, 0x5a).toString("base64url");
  const changed = bytes.slice(0, -1) + otherCharacter(bytes.slice(-1));
  expect(Buffer.from(changed, "base64url").equals(Buffer.from(bytes, "base64url"))).toBe(false);
});

test("only padding and the other base64 alphabet count as spellings of the same credential, forms of a UUID as the same clientId", () => {
  const spellingsOf = (credential: string, isSame = isSameCredential): readonly string[] =>
    nearMisses
      .filter(({ alter }) => alter(credential) !== credential && isSame(credential, alter(credential)))
      .map(({ name }) => name);
  const signature = Buffer.from("fb".repeat(32), "hex").toString("base64url");
  expect(spellingsOf(`${Buffer.from('{"a":1}').toString("base64url")}.${signature}`)).toEqual([
    "padded with =",
    "padded with ==",
    "its dashes and underscores as + and /",
  ]);
  expect(spellingsOf("0123456789abcdef0123456789abcdef")).toEqual([]);
  const uuid = "7d3c1f0e-5b1a-4c0e-9f3a-2b6d8e1a9c47";
  const asBase64 = spellingsOf(uuid);
  expect(asBase64).toEqual(["its dashes and underscores as + and /"]);
  expect(spellingsOf(uuid, isSameClientId).filter((name) => !asBase64.includes(name))).toEqual([
    "all in capitals",
    "case of every letter flipped",
    "case of one letter flipped",
    "in braces",
    "a dash put in",
    "its dashes left out",
    "a space after it",
    "a space before it",
    "a space on either side",
    "a tab after it",
    "a line feed after it",
    "CR LF after it",
    "a line feed before it",
    "a no-break space after it",
    "a byte order mark before it",
  ]);
});
