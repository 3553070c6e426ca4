import { expect, it } from "vitest";
import { settingsFor } from "../runner/testing/loads.ts";
import { requestsFor } from "./requests.ts";

const client = { id: "c", secret: "s", redirectUri: "https://client.example/" };
const headers = { "Idempotency-Key": "k", "x-idempotency-key": "k", "x-gateway": "g" };
const sent = requestsFor({
  ...settingsFor("http://127.0.0.1:1", []),
  headers,
  trigger: { method: "POST", url: "http://127.0.0.1:1/events", headers, body: {} },
});

it("headers by which k6 would send a POST twice are not sent with one", () => {
  for (const request of [
    sent.exchange(client, "code"),
    sent.refresh(client, "token"),
    sent.trigger?.(client, "account"),
  ])
    expect(request?.headers).toEqual({ "x-gateway": "g", "Content-Type": "application/json" });
  expect(sent.list("token", {}).headers).toMatchObject(headers);
});
