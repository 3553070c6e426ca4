import { expect, test } from "vitest";
import { internalsIn } from "./internals.ts";

test.each([
  ["ENOENT: no such file, open '/usr/src/app/config/keys.pem'", "the path /usr/src/app/config/keys.pem"],
  ["C:\\inetpub\\service\\Startup.cs is broken", "the path C:\\inetpub\\service\\Startup.cs"],
  ["near: SQLITE_BUSY", 'a message of SQLite ("SQLITE_BUSY")'],
  ["TypeError: Cannot read properties of undefined", 'a message of a runtime ("TypeError: ")'],
])("finds internals in %s", (text, found) => {
  expect(internalsIn(text, "")).toBe(found);
});

test.each([
  ["There is nothing at /open-api/v1/notification.", ""],
  ["See https://docs.example/app/errors/state/charset.html", ""],
  ["the file /etc/passwd/../a.conf is no token", "/etc/passwd/../a.conf"],
  ["Please select an account from the list.", ""],
])("finds no internals in %s", (text, sent) => {
  expect(internalsIn(text, sent)).toBeUndefined();
});
