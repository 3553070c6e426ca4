import { describe, expect, it } from "vitest";
import { createSecrets } from "../../contract/secrets.ts";
import { learn } from "./learn.ts";

const token = "tGzv3JOkF0XG5Qx2TlKWIA";

/** What is shown of an answer once its credentials are known. */
const shown = (json: unknown): string => {
  const secrets = createSecrets();
  const text = JSON.stringify(json);
  learn(secrets, { headers: [], json, text });
  return secrets.mask(text);
};

describe("the tokens in an answer are masked", () => {
  it.each(["accessToken", "refreshToken", "access_token", "refresh_token", "idToken", "token"])(
    "under the name %s, also deeper in the answer",
    (name) => {
      expect(shown({ [name]: token })).not.toContain(token);
      expect(shown({ data: [{ [name]: token }] })).not.toContain(token);
      expect(shown({ body: JSON.stringify({ [name]: token }) })).not.toContain(token);
    },
  );

  it.each([{ token: "the token is not valid" }, { token: "invalid" }, { error: { token: "expired" } }])(
    "but no message about a token: %j",
    (answer) => {
      expect(shown(answer)).toBe(JSON.stringify(answer));
    },
  );
});
