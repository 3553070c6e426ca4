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

it("masks secrets of headers, cookies and bodies when the service echoes them", async () => {
  const quoted: string[] = [];
  const { origin } = await stopping(
    serveHttp((request, response, body) => {
      const text = JSON.stringify({ headers: request.headers, body, url: request.url });
      quoted.push(text);
      // Most answers grant the request, so that the examination goes on to the hooks.
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
  const output = [...checks.map(({ message }) => message), ...lines].join("\n");
  expect(output).toContain("profile value");
  for (const value of Object.values(planted)) expect(output).not.toContain(value);
  expect(output).not.toMatch(/planted-/);
});
