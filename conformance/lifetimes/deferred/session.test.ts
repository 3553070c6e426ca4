import { expect, it } from "vitest";
import { createSecrets } from "../../contract/secrets.ts";
import { asJson, fromJson } from "./session.ts";

const client = { id: "client-1", secret: "MARKED-secret", redirectUri: "https://client.example/" };
const world = () => ({ client, secondClient: undefined, secrets: createSecrets() });
const code = "A".repeat(20);

it("a credential is restored with its client, whose secret was not written, and is masked again", () => {
  const text = asJson({ code, client }) ?? "";
  expect(text).not.toContain("MARKED");
  const later = world();
  expect(fromJson(text, later)).toEqual({ code, client });
  expect(later.secrets.mask(`it got ${code}`)).not.toContain(code);
});

it("a credential of a client that the profile no longer has is not restored", () => {
  const text = asJson({ code, client }) ?? "";
  expect(fromJson(text, { ...world(), client: { ...client, id: "another" } })).toBeUndefined();
});

it("a credential with a number that JSON cannot represent is not written", () => {
  expect(asJson({ livesMs: Number.NaN })).toBeUndefined();
});
