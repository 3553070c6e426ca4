import { describe, expect, it } from "vitest";
import { createSecrets } from "../../contract/secrets.ts";
import { learn } from "./learn.ts";

const token = "tGzv3JOkF0XG5Qx2TlKWIA";

/** What is shown of an answer once its credentials are known. */
const shown = (json: unknown, location?: string): string => {
  const secrets = createSecrets();
  const text = JSON.stringify(json);
  learn(secrets, { headers: location === undefined ? [] : [["location", location]], json, text });
  return secrets.mask(location ?? text);
};

describe("the code in an answer is masked", () => {
  it("in a redirect, and if it is long, also without a state", () => {
    expect(shown({}, "https://x/cb?code=the-code-in-it-1&state=s")).not.toContain("the-code-in-it-1");
    expect(shown({ code: "4f1c0ffee4f1c0ffee4f" })).not.toContain("c0ffee");
  });

  it.each(["INVALID_CODE", "invalid_grant", "10042", "AUTH-401", "Errors.Authorization.Expired"])(
    "but not if it names an error, which should read the same in every run: %s",
    (code) => {
      expect(shown({ code, message: "no" })).toContain(code);
    },
  );
});

describe("the tokens in an answer are masked", () => {
  it.each([
    "accessToken",
    "refreshToken",
    "access_token",
    "refresh_token",
    "idToken",
    "token",
    "ACCESS_TOKEN",
  ])("under the name %s, also deeper in the answer", (name) => {
    expect(shown({ [name]: token })).not.toContain(token);
    expect(shown({ data: [{ [name]: token }] })).not.toContain(token);
    expect(shown({ body: JSON.stringify({ [name]: token }) })).not.toContain(token);
  });

  it("however long they are", () => {
    const long = `${token}.${"x".repeat(1_000)}.${token}`;
    expect(shown({ data: { accessToken: long } })).not.toContain(token);
  });

  it("under any name beside an accessToken, unless it is an ordinary word", () => {
    const next = "KHmy5paMru9s4zQx2TlK";
    expect(shown({ accessToken: token, next, kind: "Bearer", at: "2026-01-01T00:00:00Z" })).toBe(
      '{"accessToken":"‹access token 1›","next":"‹credential 1›","kind":"Bearer","at":"2026-01-01T00:00:00Z"}',
    );
    expect(shown({ next })).toContain(next);
  });

  it.each([{ token: "the token is not valid" }, { token: "invalid" }, { error: { token: "expired" } }])(
    "but no message about a token: %j",
    (answer) => {
      expect(shown(answer)).toBe(JSON.stringify(answer));
    },
  );
});
