import { expect, it } from "vitest";
import { quote } from "./evidence.ts";
import { fieldsIn } from "./exchange.ts";

const token = "tGzv3JOkF0XG5Qx2TlKWIA";

const shownOf = (json: object): string => {
  const text = JSON.stringify(json);
  const answer = { endpoint: "exchange", method: "POST", path: "/", durationMs: 1 } as const;
  return quote({ ...answer, status: 200, text, fields: fieldsIn(text) });
};

it("a quoted answer does not show tokens that are deeper in it, nor one of another name beside them", () => {
  const next = "KHmy5paMru9s4zQx2TlK";
  const error = { code: "EXPIRED_GRANT_0042" };
  const shown = shownOf({ data: [{ accessToken: token, next }], error });
  expect(shown).not.toContain(token);
  expect(shown).not.toContain(next);
  expect(shown).toContain(error.code);
});

it.each(["accessToken", "refreshToken", "code", "access_token", "refresh_token"])(
  "a quoted answer does not show its %s",
  (name) => {
    const shown = shownOf({ [name]: token, state: "abc" });
    expect(shown).not.toContain(token);
    expect(shown).toContain(name);
  },
);
