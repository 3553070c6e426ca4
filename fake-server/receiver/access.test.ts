import { request } from "node:http";
import { describe, expect, it } from "vitest";
import { receiversOfTests } from "./testing/receivers.ts";

const start = receiversOfTests();

/** The status of a request with exactly these headers. */
const statusWith = (url: string, headers: Record<string, string>, method = "GET"): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });

describe("access to the control interface", () => {
  it("requires the token if it can be reached from elsewhere", async () => {
    const { receiver } = await start({ host: "0.0.0.0", token: "secret-token", page: true });
    const state = `${receiver.controlUrl}/state`;
    expect(await statusWith(state, {})).toBe(401);
    expect(await statusWith(state, { authorization: "Bearer other" })).toBe(401);
    expect(await statusWith(state, { authorization: "secret-token" })).toBe(401);
    expect(await statusWith(state, { authorization: "Bearer secret-token" })).toBe(200);
    for (const [method, route] of [
      ["GET", "/pushes"],
      ["GET", "/events"],
      ["GET", "/journal"],
      ["PUT", "/plan"],
      ["POST", "/clear"],
      ["POST", "/listener"],
      ["DELETE", "/hangs"],
      ["PUT", "/certificate"],
      ["GET", "/nothing"],
    ] as const)
      expect(await statusWith(receiver.controlUrl + route, {}, method)).toBe(401);
    // The page holds no data; it asks its reader for the token.
    expect(await statusWith(`${receiver.controlUrl}/`, {})).toBe(200);
  });

  it("needs no token on loopback, but is refused to pages of other sites", async () => {
    const { receiver } = await start();
    const state = `${receiver.controlUrl}/state`;
    const { host } = new URL(receiver.controlUrl);
    expect(await statusWith(state, {})).toBe(200);
    expect(await statusWith(state, { origin: `http://${host}` })).toBe(200);
    expect(await statusWith(state, { origin: "https://evil.example" })).toBe(401);
    expect(await statusWith(`${receiver.controlUrl}/clear`, { origin: "null" }, "POST")).toBe(401);
    expect(await statusWith(state, { host: "evil.example" })).toBe(401);
    expect(await statusWith(state, { authorization: "Bearer wrong" })).toBe(401);
  });
});
