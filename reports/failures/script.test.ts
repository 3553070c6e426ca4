import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { ExchangeRecord, RuleResult } from "../../conformance/contract/record.ts";
import { gateRun } from "../testing/ci-runs.ts";
import { resultOf, ruleThat } from "../testing/fixture.ts";
import { failuresOf } from "./failures.ts";
import { renderScript } from "./script.ts";

const folder = folderOfFile();

type Part = Partial<Omit<ExchangeRecord, "request">> & {
  readonly request?: Partial<ExchangeRecord["request"]>;
};

/** Requests a tenth of a second apart, each answered at once with an empty object. */
const proofOf = (...parts: readonly Part[]): readonly ExchangeRecord[] =>
  parts.map(({ request, ...more }, at) => ({
    n: at + 1,
    rule: "code.single-use",
    startedMs: at * 100,
    durationMs: 2,
    clockMs: 0,
    request: { method: "GET", path: "/", headers: [], ...request },
    ...(more.error === undefined && { answer: { status: 200, headers: [], text: "{}" } }),
    ...more,
  }));

const answered = (
  status: number,
  body: object,
  headers: NonNullable<ExchangeRecord["answer"]>["headers"] = [],
) => ({
  answer: { status, headers, text: JSON.stringify(body) },
});

/** Runs the script of one failure against a service, with a command that notes by how much it was asked to move a clock. */
const runAgainst = async (
  exchanges: readonly ExchangeRecord[],
  service: RequestListener,
  {
    rule = "code.single-use",
    rules = [ruleThat.failed(rule, "what was promised", "what was seen", exchanges)],
    args = [],
    env = {},
  }: {
    readonly rule?: RequirementId;
    readonly rules?: readonly RuleResult[];
    readonly args?: readonly string[];
    readonly env?: Record<string, string>;
  } = {},
) => {
  const server = createServer((request, response) => {
    response.removeHeader("date");
    service(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const moves = path.join(folder, "moves");
  writeFileSync(moves, "");
  const file = path.join(folder, "one.mjs");
  writeFileSync(file, renderScript(failuresOf([gateRun(rules)]), { program: "touchstone" }));
  const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ADVANCE_COMMAND = `echo $MS >> '${moves}'`;
  const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
    execFile(
      process.execPath,
      [file, ...args],
      { env: { PATH: process.env["PATH"], BASE_URL, ADVANCE_COMMAND, ...env } },
      (error, out) => resolve({ code: error?.code ?? 0, stdout: out }),
    );
  });
  server.closeAllConnections();
  server.close();
  const moved = readFileSync(moves, "utf8").split("\n").filter(Boolean).map(Number);
  return { code, stdout, moved };
};

const always =
  (status: number, body: object, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(status, headers).end(JSON.stringify(body));
  };

describe("the time between the requests of a script", () => {
  it("is that of the service's clock, whatever refusals say and however long the machine took", async () => {
    const exchanges = proofOf(
      { clockMs: 5_000, startedMs: 0 },
      { clockMs: 5_000, startedMs: 90_000 },
      { clockMs: 605_500, startedMs: 95_000 },
      { clockMs: 605_600, startedMs: 95_100 },
    );
    expect(await runAgainst(exchanges, always(200, {}))).toMatchObject({ code: 1, moved: [600_500, 100] });
  });

  it("is not guessed if nothing tells it", async () => {
    const exchanges = proofOf({}, {}).map(({ n, rule, startedMs, durationMs, request }) => ({
      n,
      rule,
      startedMs,
      durationMs,
      request,
      ...answered(400, {}),
    }));
    const { code, stdout } = await runAgainst(exchanges, always(200, {}));
    expect(code).toBe(3);
    expect(stdout).toContain("the record does not tell how much of the service's time passed");
  });
});

describe("what a script learns and compares", () => {
  const redirected = (location: string) => answered(302, {}, [["location", location]]);
  const used = { request: { path: "/use?code=‹code 1›" } };

  it("is the code of a redirect", async () => {
    const exchanges = proofOf(redirected("https://client.example/cb?code=‹code 1›&state=a"), used);
    const seen: (string | undefined)[] = [];
    const { code } = await runAgainst(exchanges, (request, response) => {
      seen.push(request.url);
      if (request.url === "/")
        response.writeHead(302, { location: "https://client.example/cb?code=A%2BBCD&state=a" });
      response.end("{}");
    });
    expect(code).toBe(1);
    expect(seen).toEqual(["/", "/use?code=A%2BBCD"]);
  });

  it.each<readonly [string, object, object, number]>([
    ["another moment in the same unit", { expiresIn: 1_767_410_042 }, { expiresIn: 1_767_232_800 }, 1],
    ["a moment in another unit", { at: 1_767_410_042 }, { at: 1_767_410_042_000 }, 0],
    ["a duration in place of a moment", { expiresIn: 1_767_410_042 }, { expiresIn: 7_200 }, 0],
    ["the total of a list that is still none", { data: null, total: 36 }, { data: null, total: 0 }, 1],
    ["a list where there was none", { data: null, total: 36 }, { data: [], total: 0 }, 0],
  ])("tells whether %s is the same answer", async (_, then, now, expected) => {
    const { code } = await runAgainst(proofOf(answered(200, then)), always(200, now));
    expect(code).toBe(expected);
  });

  it("is written into JSON and addresses as these need", async () => {
    const exchanges = proofOf({
      request: { method: "POST", path: "/?s=‹client secret 1›", body: '{"s":"‹client secret 1›"}' },
    });
    const seen: string[] = [];
    await runAgainst(
      exchanges,
      (request, response) => {
        request.on("data", (part) => seen.push(`${request.url} ${part}`)).on("end", () => response.end("{}"));
      },
      { env: { CLIENT_SECRET_1: 'a"b&c' } },
    );
    expect(seen[0]).toBe(String.raw`/?s=a%22b%26c {"s":"a\"b&c"}`);
  });

  it("is the rest of the redirect, too", async () => {
    const exchanges = proofOf(redirected("https://client.example/cb?code=‹code 1›"));
    const mended = await runAgainst(
      exchanges,
      always(302, {}, { location: "https://client.example/cb?q=1&code=Xy12345678" }),
    );
    expect(mended.code).toBe(0);
    expect(mended.stdout).toContain("cb?q=1&code=");
  });

  it("is no reason to stop if a service gives the code in the other form now", async () => {
    const path = "/open-api/oauth/authorize?clientId=a";
    const body = '{"clientId":"a","clientSecret":"‹client secret 1›","code":"‹code 1›"}';
    const exchanges = proofOf(
      { ...redirected("https://client.example/cb?code=‹code 1›"), request: { path } },
      { request: { method: "POST", path: "/open-api/oauth/access-token", body } },
    );
    const env = { CLIENT_SECRET_1: "secret" };
    expect((await runAgainst(exchanges, always(200, { code: "Xy12345678" }), { env })).code).toBe(0);
    const refusing: RequestListener = (request, response) => {
      response.writeHead(request.method === "POST" ? 401 : 200).end('{"code":"Xy12345678"}');
    };
    const refused = await runAgainst(exchanges, refusing, { env });
    expect([refused.code, refused.stdout]).toEqual([
      3,
      expect.stringContaining("refuses even a valid request"),
    ]);
  });

  it("is whether two values are the same", async () => {
    const exchanges = proofOf(answered(200, { code: "‹code 1›" }), answered(200, { code: "‹code 1›" }));
    let count = 0;
    const fresh: RequestListener = (_, response) =>
      void response.end(JSON.stringify({ code: `code-${(count += 1)}` }));
    expect((await runAgainst(exchanges, fresh)).code).toBe(0);
    expect((await runAgainst(exchanges, always(200, { code: "code-1" }))).code).toBe(1);
    const distinct = proofOf(answered(200, { code: "‹code 1›" }), answered(200, { code: "‹code 2›" }));
    expect((await runAgainst(distinct, fresh)).code).toBe(1);
    expect((await runAgainst(distinct, always(200, { code: "code-1" }))).code).toBe(0);
  });

  it("is whether a value recurs within as many requests as there were", async () => {
    const exchanges = proofOf(answered(200, { code: "‹code 1›" }), {
      ...answered(200, { code: "‹code 1›" }),
      n: 150,
    });
    let count = 0;
    const afterSixty: RequestListener = (_, response) =>
      void response.end(JSON.stringify({ code: `code-${(count += 1) % 60}` }));
    expect((await runAgainst(exchanges, afterSixty)).code).toBe(1);
  });

  it.each([
    [{ end: 1, drop: 1 }, "AbcdeF"],
    [{ end: 1, drop: 1, put: "f" }, "AbcdeFf"],
    [{ start: 1, put: "x" }, "AxbcdeFg"],
    [{ start: 1, drop: 1, put: "b" }, "AxcdeFg"],
    [{ start: 1, to: "other case" }, "ABcdeFg"],
    [{ start: 0, to: "exchanged" }, "bAcdeFg"],
    [{ to: "upper case" }, "ABCDEFG"],
  ] as const)("is used to make what was nearly a credential: %o", async (how, sent) => {
    const nearly = { "‹nearly code 1›": how };
    const exchanges = proofOf(answered(200, { code: "‹code 1›" }), {
      request: { path: "/‹nearly code 1›", nearly },
    });
    const seen: (string | undefined)[] = [];
    await runAgainst(exchanges, (request, response) => {
      seen.push(request.url);
      response.end(request.url === "/" ? '{"code":"AbcdeFg"}' : "{}");
    });
    expect(seen.slice(0, 2)).toEqual(["/", `/${sent}`]);
  });

  it("is not made up if the record does not tell how it was near", async () => {
    const exchanges = proofOf({ request: { path: "/‹nearly code 1›" } });
    const { code, stdout } = await runAgainst(exchanges, always(200, {}));
    expect([code, stdout]).toEqual([3, expect.stringContaining("nearly the value CODE_1")]);
  });

  it("is that there was no answer", async () => {
    const exchanges = proofOf({ error: "no answer (closed)" });
    expect((await runAgainst(exchanges, ({ socket }) => void socket.destroy())).code).toBe(1);
    expect((await runAgainst(exchanges, always(400, {}))).code).toBe(0);
    expect((await runAgainst(proofOf({}), ({ socket }) => void socket.destroy())).code).toBe(3);
  });

  it("is not a random value under a name that is not known to hold one", async () => {
    const exchanges = proofOf(answered(200, { access_token: "k1s5ioVnC0KpGniO7_sRQfZdCQyu5Z8v4rSXH4" }));
    expect(
      (await runAgainst(exchanges, always(200, { access_token: "Deh72OpzT07L9jrTigFVUXF4G93hO" }))).code,
    ).toBe(1);
  });
});

describe("a script about lists", () => {
  const rule = "notifications.total";
  const page = (...ids: readonly string[]) => ({ data: ids.map((id) => ({ id })), total: ids.length });
  const one = "0d237ee2-51e7-4e98-8f45-365532d48fa7";
  const other = "9a1f7a10-0237-4559-a12d-2e48534b2254";

  it("cannot tell from lists that are empty, or that show other notifications", async () => {
    for (const [then, now] of [
      [page(), page()],
      [page(one), page(other)],
      [page(one), page()],
    ] as const) {
      const { code, stdout } = await runAgainst(proofOf(answered(200, then)), always(200, now), { rule });
      expect(code).toBe(3);
      expect(stdout).toContain("none of those that the breach is about");
    }
  });

  it("cannot tell from lists that have become empty, in whichever way the service says so", async () => {
    const cut = {
      answer: { status: 200, headers: [], text: `{"data":[{"id":"${one}","rem… (26001 characters in all)` },
    };
    const refusal = { error: "there is no such account" };
    for (const [then, status, now] of [
      [answered(200, page(one)), 200, { data: null, total: 0 }],
      [answered(200, page(one)), 200, { total: 0 }],
      [answered(200, page(one)), 404, refusal],
      [answered(200, { data: [], total: 36 }), 200, { data: null, total: 0 }],
      [cut, 404, refusal],
    ] as const) {
      const { code, stdout } = await runAgainst(proofOf(then), always(status, now), { rule });
      expect(code).toBe(3);
      expect(stdout).toContain("the lists hold different notifications now");
    }
  });

  it("can tell if a list is answered otherwise while another one shows what it showed", async () => {
    const exchanges = proofOf(answered(200, page(one)), {
      ...answered(200, page(one)),
      request: { path: "/?page=9" },
    });
    const mended: RequestListener = ({ url }, response) =>
      void response.end(JSON.stringify(url === "/" ? page(one) : { data: null, total: 1 }));
    expect(await runAgainst(exchanges, mended, { rule })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("answers differently now"),
    });
  });

  it("can tell if the list is refused", async () => {
    const exchanges = proofOf(answered(401, { error: "expired" }));
    expect((await runAgainst(exchanges, always(401, { error: "expired" }), { rule })).code).toBe(1);
  });

  it("can tell if they still show the same", async () => {
    expect((await runAgainst(proofOf(answered(200, page(one))), always(200, page(one)), { rule })).code).toBe(
      1,
    );
  });
});

it("a script labels what the run saw as that, not as what it sees itself", async () => {
  const { stdout } = await runAgainst(proofOf({}), always(200, {}));
  expect(stdout).toContain(
    "  STILL BROKEN: the service answers as it did then\n  expected  what was promised\n  seen then what was seen\n",
  );
});

it("a script waits for the answer that gives what the next request needs, though they overlapped", async () => {
  const exchanges = proofOf(
    { ...answered(200, { code: "‹code 1›" }), durationMs: 500 },
    { ...answered(200, { code: "‹code 2›" }), durationMs: 500 },
    { request: { path: "/use?code=‹code 1›" }, durationMs: 500 },
  );
  let count = 0;
  const issuing: RequestListener = (_, response) =>
    void response.end(JSON.stringify({ code: `code-${(count += 1)}` }));
  const { code, stdout } = await runAgainst(exchanges, (request, response) =>
    request.url === "/" ? issuing(request, response) : void response.end("{}"),
  );
  expect(stdout).toContain("STILL BROKEN");
  expect(code).toBe(1);
});

it("a script finds what shows on another connection, or on the same one", async () => {
  const exchanges = proofOf({}, { request: { path: "/again" } }, { request: { path: "/last" } });
  const first = { port: 0 as number | undefined };
  const telling =
    (isBreach: (isSame: readonly boolean[]) => boolean): RequestListener =>
    ({ url, socket }, response) => {
      if (url === "/") seen.length = 0;
      first.port = url === "/" ? socket.remotePort : first.port;
      seen.push(socket.remotePort === first.port);
      response.writeHead(url === "/last" && !isBreach(seen) ? 400 : 200).end("{}");
    };
  const seen: boolean[] = [];
  for (const [again, last] of [
    [false, false],
    [true, true],
    [true, false],
    [false, true],
  ] as const)
    expect(
      (
        await runAgainst(
          exchanges,
          telling(([, b, c]) => b === again && c === last),
        )
      ).code,
      `${again} ${last}`,
    ).toBe(1);
  expect(
    (
      await runAgainst(
        exchanges,
        telling(() => false),
      )
    ).code,
  ).toBe(0);
});

it("a script does not call a breach mended that may follow from values which still come twice", async () => {
  const twice = proofOf(answered(200, { code: "‹code 1›" }), answered(200, { code: "‹code 1›" }));
  const refused = ruleThat.failed("code.single-use", "a", "b", proofOf(answered(400, {})));
  const more = [ruleThat.failed("authorize.code-is-fresh", "a", "b", twice)];
  const same = await runAgainst([], always(200, { code: "code-1" }), {
    rules: [refused, ...more],
    args: ["code.single-use"],
  });
  expect([same.code, same.stdout]).toEqual([
    3,
    expect.stringContaining("still issues one value several times"),
  ]);
  let count = 0;
  const fresh: RequestListener = (_, response) =>
    void response.end(JSON.stringify({ code: `code-${(count += 1)}` }));
  expect((await runAgainst([], fresh, { rules: [refused, ...more], args: ["code.single-use"] })).code).toBe(
    0,
  );
});

it("a script does not call a breach mended that the gate itself did not always see again, unless it is a race", async () => {
  const flaky = (exchanges: readonly ExchangeRecord[], failures: number): RuleResult => {
    const reproduction = { seed: 7, replayed: { failures, attempts: 4 } };
    const breach = { expected: "a", actual: "b", evidence: [], reproduction };
    return resultOf("code.single-use", { kind: "failed", cases: 1, breach }, exchanges);
  };
  const codeOf = async (rule: RuleResult): Promise<unknown> =>
    (await runAgainst([], always(400, {}), { rules: [rule] })).code;
  const race = proofOf({ durationMs: 500 }, {});
  expect(await codeOf(flaky(proofOf({}), 4))).toBe(0);
  expect(await codeOf(flaky(proofOf({}), 3))).toBe(3);
  expect(await codeOf(flaky(race, 1))).toBe(0);
  expect(await codeOf(flaky(race, 0))).toBe(3);
});

it("a script does not send a request of which the record keeps only the beginning", async () => {
  const exchanges = proofOf({ request: { method: "POST", body: "[… (26001 characters in all)" } });
  const { code, stdout } = await runAgainst(exchanges, always(200, {}));
  expect([code, stdout]).toEqual([3, expect.stringContaining("too long to keep")]);
});

it("a script about randomness says that it cannot measure it", async () => {
  const { code, stdout } = await runAgainst(proofOf({}), always(200, {}), { rule: "authorize.code-entropy" });
  expect([code, stdout]).toEqual([3, expect.stringContaining("how random")]);
});
