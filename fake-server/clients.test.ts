import { expect, test } from "vitest";
import { defaultClients, parseClients } from "./clients.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";

const client = { id: "a", secret: "b", redirectUri: "https://client.example/" };

test("the default clients are a valid clients file", () => {
  expect(parseClients(structuredClone(defaultClients))).toEqual(defaultClients);
});

test.each([
  ["an object", client, "clients: expected a JSON array"],
  ["an empty list", [], "at least one"],
  ["a client that is a string", ["a"], "clients[0]: expected an object"],
  ["an unknown key", [{ ...client, name: "x" }], "clients[0].name: unknown key"],
  [
    "a missing secret",
    [{ id: "a", redirectUri: client.redirectUri }],
    "clients[0].secret: expected a non-empty string",
  ],
  ["an empty id", [{ ...client, id: "" }], "clients[0].id"],
  ["a redirectUri that is not absolute", [{ ...client, redirectUri: "/callback" }], "clients[0].redirectUri"],
  ["a repeated id", [client, client], 'the id "a" occurs twice'],
])("parseClients rejects %s and says where it is", (_kind, data, message) => {
  expect(() => parseClients(data)).toThrow(ConfigurationError);
  expect(() => parseClients(data)).toThrow(message);
});
