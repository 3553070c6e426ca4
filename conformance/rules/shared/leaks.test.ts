import { describe, expect, it } from "vitest";
import { internalsIn, stackTraceIn, tokenLike } from "./leaks.ts";
import type { Answer } from "../../world/exchange.ts";

const answerOf = (text: string, json?: unknown, headers: Answer["headers"] = []): Answer => ({
  exchange: 1,
  status: 500,
  headers,
  text,
  json,
});
const jsonAnswer = (json: unknown): Answer => answerOf(JSON.stringify(json), json);

describe("stack traces", () => {
  it.each([
    [
      "Node.js",
      "Error: no\n    at exchange (file:///srv/app/routes.ts:12:7)\n    at node:internal/process:1:2",
    ],
    ["Node.js", "TypeError: x\n    at async Object.handler (/srv/app/index.js:40:11)"],
    [
      "Java",
      'Exception in thread "main" java.lang.IllegalStateException\n\tat com.shop.Tokens.issue(Tokens.java:31)',
    ],
    ["Python", 'Traceback (most recent call last):\n  File "/srv/app.py", line 3, in issue\nKeyError'],
    [".NET", "System.Exception: no\n   at Shop.Tokens.Issue(String code) in C:\\src\\Tokens.cs:line 12"],
    [".NET", "   at System.Text.Json.JsonSerializer.Deserialize(String json)"],
    ["Go", "panic: no\n\ngoroutine 18 [running]:\nmain.issue()\n\t/srv/main.go:12 +0x1d"],
    ["PHP", "Stack trace:\n#0 /srv/index.php(12): issue()\n#1 {main}"],
    ["Ruby", "app.rb:12:in `issue': no (RuntimeError)"],
    ["Rust", "thread 'main' panicked at src/main.rs:2:5:"],
  ])("of %s are recognized", (platform, trace) => {
    expect(stackTraceIn(answerOf(trace))).toBe(platform);
    expect(stackTraceIn(jsonAnswer({ error: { detail: trace } }))).toBe(platform);
    expect(
      stackTraceIn(answerOf(`<pre>${trace.replaceAll("<", "&lt;").replaceAll("\n", "<br>")}</pre>`)),
    ).toBe(platform);
  });

  it.each([
    "",
    "The code is not valid. Look at https://docs.shop.example/errors:400:1 for more.",
    "Meet us at noon (room 3:15) at the office.",
    "invalid_grant",
    "at line 1 column 12 of the body",
  ])("are not found in %j", (text) => {
    expect(stackTraceIn(answerOf(text))).toBe(undefined);
    expect(stackTraceIn(jsonAnswer({ message: text }))).toBe(undefined);
  });
});

describe("strings that may be credentials", () => {
  const token = "0Zq8hW3vYt5uXs7rNp2k";

  it("are found at any depth, in headers, and behind other text", () => {
    expect(tokenLike(jsonAnswer({ a: [{ b: token }] }), [])).toEqual([token]);
    expect(tokenLike(answerOf("", undefined, [["set-cookie", `session=${token}; Path=/`]]), [])).toContain(
      token,
    );
    expect(tokenLike(answerOf(`<p>Bearer ${token}</p>`), [])).toEqual([token]);
  });

  it("do not include values from the request or ordinary words", () => {
    expect(tokenLike(jsonAnswer({ echo: token }), [token])).toEqual([]);
    expect(tokenLike(jsonAnswer({ error: "authorization-code-unknown" }), [])).toEqual([]);
  });
});

it.each([
  ["ENOENT: no such file, open '/usr/src/app/config/keys.pem'", "the path /usr/src/app/config/keys.pem"],
  ["C:\\inetpub\\service\\Startup.cs is broken", "the path C:\\inetpub\\service\\Startup.cs"],
  ["near: SQLITE_BUSY", 'a message of SQLite ("SQLITE_BUSY")'],
  ["TypeError: Cannot read properties of undefined", 'a message of a runtime ("TypeError: ")'],
])("finds internals in %s", (text, found) => {
  expect(internalsIn(text, "")).toBe(found);
});

it.each([
  ["There is nothing at /open-api/v1/notification.", ""],
  ["See https://docs.example/app/errors/state/charset.html", ""],
  ["the file /etc/passwd/../a.conf is no token", "/etc/passwd/../a.conf"],
  ["Please select an account from the list.", ""],
])("finds no internals in %s", (text, sent) => {
  expect(internalsIn(text, sent)).toBeUndefined();
});
