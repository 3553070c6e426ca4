import { expect, it } from "vitest";
import { examine } from "../engine/conform.ts";
import { checkProfile, resolveProfile } from "./profile.ts";
import { runOptions } from "../testing/fake.ts";
import { serveHttp } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";

const stopping = stopAfterEach();

const planted = {
  SECRET: "planted-client-1a2b3c",
  GATEWAY: "planted-gateway-4d5e6f",
  COOKIE: "planted-cookie-7a8b9c",
  HOOK: "planted-hook-0d1e2f",
  BODY: "planted-body-3a4b5c",
};

it("secrets of headers, cookies and bodies are hidden in what a service quotes of them", async () => {
  const quoted: string[] = [];
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      const text = JSON.stringify({ headers: request.headers, body, url: request.url });
      quoted.push(text);
      // Most of it grants what is asked for, so that the look goes on to the hooks.
      const grants = { code: `code-${quoted.length}-${"x".repeat(20)}`, accessToken: "a", refreshToken: "r" };
      const listed = { data: [], total: 0 };
      response.writeHead(request.url?.startsWith("/hook") === true ? 500 : 200, {
        "content-type": "application/json",
      });
      response.end(JSON.stringify({ ...grants, ...listed, expiresIn: 60, quoted: text }));
    }),
  );
  const lines: string[] = [];
  const resolved = await resolveProfile(
    checkProfile({
      baseUrl: origin,
      clients: [{ id: "a", secret: { env: "SECRET" }, redirectUri: "https://a.example/" }],
      headers: { "x-gateway": { env: "GATEWAY" } },
      authorize: { headers: { cookie: { env: "COOKIE", prefix: "session=" } } },
      hooks: {
        events: {
          trigger: {
            http: {
              url: `${origin}/hook`,
              headers: { authorization: { env: "HOOK", prefix: "Bearer " } },
              body: { plain: { $secret: { env: "BODY" } } },
            },
          },
        },
      },
    }),
    planted,
  );
  const checks = await examine(resolved, {
    ...runOptions(),
    sink: { write: (record) => lines.push(JSON.stringify(record)) },
  });
  const sent = quoted.join("\n");
  for (const value of Object.values(planted)) expect(sent).toContain(value);
  const told = [...checks.map(({ message }) => message), ...lines].join("\n");
  expect(told).toContain("profile value");
  for (const value of Object.values(planted)) expect(told).not.toContain(value);
  expect(told).not.toMatch(/planted-/);
});
