import { expect, it } from "vitest";
import { quote } from "./evidence.ts";
import { fieldsIn } from "./exchange.ts";

const token = "tGzv3JOkF0XG5Qx2TlKWIA";

it.each(["accessToken", "refreshToken", "code", "access_token", "refresh_token"])(
  "a quoted answer does not show its %s",
  (name) => {
    const text = JSON.stringify({ [name]: token, state: "abc" });
    const answer = { endpoint: "exchange", method: "POST", path: "/", durationMs: 1 } as const;
    const shown = quote({ ...answer, status: 200, text, fields: fieldsIn(text) });
    expect(shown).not.toContain(token);
    expect(shown).toContain(name);
  },
);
