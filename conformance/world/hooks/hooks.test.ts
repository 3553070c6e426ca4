import { describe, expect, it } from "vitest";
import type { HookDefinition } from "../../contract/profile-fetched.ts";
import { deadOrigin, serveEndless, serveHttp, serveTcp } from "../../testing/servers.ts";
import { stopAfterEach } from "../../testing/stopping.ts";
import { coarsenessMs, HookError, instantMs, resultOf, runHook } from "./hooks.ts";
import { errorOf } from "../../testing/errors.ts";

const stopping = stopAfterEach();

const problemOf = async (running: Promise<unknown>): Promise<string> => {
  const { key, message } = await errorOf(running, HookError);
  expect(key).toBe("hooks.clock.advance");
  return message;
};

const run = (hook: HookDefinition, values: Record<string, string | number> = {}, signal?: AbortSignal) =>
  runHook("clock.advance", hook, values, { interrupted: signal });

describe("a hook over HTTP", () => {
  it("fills placeholders in address, headers and body, each with its own encoding", async () => {
    const seen: unknown[] = [];
    const { origin } = await stopping(
      serveHttp((request, response, body) => {
        seen.push(request.method, request.url, request.headers["x-account"], JSON.parse(body));
        response.end('{"now":5}');
      }),
    );
    const answer = await run(
      {
        http: {
          url: `${origin}/a/{{accountId}}?ms={{ms}}`,
          headers: { "x-account": "for {{accountId}}" },
          body: {
            ms: "{{ms}}",
            text: "{{ms}} ms",
            list: ["{{accountId}}"],
            other: "{{unknown}} {{constructor}}",
          },
        },
      },
      { ms: 1_500, accountId: "a/b c" },
    );
    expect(answer.json).toEqual({ now: 5 });
    expect(seen).toEqual([
      "POST",
      "/a/a%2Fb%20c?ms=1500",
      "for a/b c",
      { ms: 1_500, text: "1500 ms", list: ["a/b c"], other: "{{unknown}} {{constructor}}" },
    ]);
  });

  it("fails if its server switches protocols, and names the status", async () => {
    const head = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    const { origin } = await stopping(serveTcp((socket) => socket.once("data", () => socket.write(head))));
    const message = await problemOf(run({ http: { url: `${origin}/advance` } }));
    expect(message).toContain("gave no answer: status 101 Switching Protocols, which nobody asked for");
  });

  it.each([302, 404, 500])("fails if it answers with %i", async (status) => {
    const { origin } = await stopping(
      serveHttp((_, response) => response.writeHead(status, { location: "/login" }).end("why not")),
    );
    const message = await problemOf(run({ http: { url: `${origin}/advance?key=hush` } }));
    expect(message).toContain(`answered with status ${status}: why not`);
    expect(message).not.toContain("hush");
  });

  it("fails if the connection is refused, no answer comes, or the answer is too large", async () => {
    expect(await problemOf(run({ http: { url: await deadOrigin() } }))).toContain("ECONNREFUSED");
    const silent = await stopping(serveTcp(() => {}));
    expect(await problemOf(run({ http: { url: silent.origin }, timeoutMs: 50 }))).toContain("gave no answer");
    const endless = await stopping(serveEndless());
    expect(await problemOf(run({ http: { url: endless.origin } }))).toContain("is too large");
  });

  it("ends when the run is interrupted", async () => {
    const { origin } = await stopping(serveTcp(() => {}));
    const interrupt = new AbortController();
    const running = problemOf(run({ http: { url: origin } }, {}, interrupt.signal));
    interrupt.abort();
    expect(await running).toContain(origin);
  });
});

describe("a command hook", () => {
  const node = process.execPath;

  it("gets placeholders as arguments, without a shell", async () => {
    const answer = await run(
      { command: [node, "-p", "JSON.stringify(process.argv.slice(1))", "--", "{{accountId}}", "x{{ms}}"] },
      { accountId: "$(id); `id`", ms: 7 },
    );
    expect(answer.json).toEqual(["$(id); `id`", "x7"]);
  });

  it("returns its output, also if that is not JSON", async () => {
    const answer = await run({ command: [node, "-e", "console.log(' 2026-01-01T00:00:00Z ')"] });
    expect(resultOf(answer, undefined, ["/now"])).toBe("2026-01-01T00:00:00Z");
  });

  it("fails if its program exits with an error, does not exist, or does not end", async () => {
    expect(
      await problemOf(run({ command: [node, "-e", "console.error('because'); process.exit(3)"] })),
    ).toContain("because");
    // A placeholder may be filled with nothing.
    expect(await problemOf(run({ command: [""] }))).toContain("failed: ");
    expect(await problemOf(run({ command: ["/no/such/program"] }))).toContain(
      "there is no program /no/such/program",
    );
    // The grandchild keeps the output open for much longer than the time-out.
    const message = await problemOf(run({ command: ["/bin/sh", "-c", "sleep 20; true"], timeoutMs: 60 }));
    expect(message).toContain("did not end within");
  });
});

describe("resultOf", () => {
  const of = (json: unknown, text = "") => ({ json, text });

  it.each([
    [of({ a: { "b/c": [{ "d~e": 1 }] } }), "/a/b~1c/0/d~0e", 1],
    [of({ a: 1 }), "/b", undefined],
    [of(undefined, "text"), "/a", undefined],
    [of({ now: 1, id: 2 }), undefined, 2],
    [of(5, "5"), undefined, 5],
    [of(undefined, "bare"), undefined, "bare"],
    [of(undefined, ""), undefined, undefined],
  ])("reads %j at %j as %j", (answer, pointer, expected) => {
    expect(resultOf(answer, pointer, ["/id", "/now"])).toEqual(expected);
  });
});

describe("a point in time", () => {
  const momentMs = 1_767_225_600_000;

  it.each([
    [momentMs, momentMs, 0],
    [String(momentMs), momentMs, 0],
    [momentMs / 1_000, momentMs, 999],
    [momentMs * 1_000_000, momentMs, 0],
    [momentMs / 1_000 + 0.25, momentMs + 250, 0],
    ["2026-01-01T00:00:00Z", momentMs, 999],
    ["Thu, 01 Jan 2026 00:00:00 GMT", momentMs, 999],
  ])("is read from %j as %i, accurate to %i ms", (value, expected, openMs) => {
    expect(instantMs(value)).toBe(expected);
    expect(coarsenessMs(value)).toBe(openMs);
  });

  it.each([undefined, null, "", "noon", {}, [], true, Number.NaN, Infinity])(
    "is not read from %j",
    (value) => {
      expect(instantMs(value)).toBe(undefined);
    },
  );
});
