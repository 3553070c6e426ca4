import { expect, it } from "vitest";
import { unanswered } from "./load.ts";

const refused =
  "authorize gave clients[0] (c) no code: no answer (dial: connection refused). Check at baseUrl, and at what follows";

it("unanswered gives a reason only if no request at all was answered", () => {
  expect(unanswered([refused, refused])).toBe("dial: connection refused");
  expect(unanswered([])).toBeUndefined();
  expect(unanswered([refused, "the list gave clients[0] (c) no page: 500 nothing"])).toBeUndefined();
});
