import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { Nearness } from "../../conformance/contract/nearness.ts";
import type { ExchangeRecord, RuleResult } from "../../conformance/contract/record.ts";
import { startFakeServer, profileOf, secretsOf } from "../../fake-server/index.ts";
import { gateRun } from "../testing/ci-runs.ts";
import { recordOf, ruleThat } from "../testing/fixture.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import { ciCommand, hostile, unsafeCharacters } from "../testing/hostile.ts";
import { curlOf } from "./curl.ts";
import { failuresOf } from "./failures.ts";
import { renderHar } from "./har.ts";
import { renderScript } from "./script.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const folder = folderOfFile();
const json: ExchangeRecord["request"]["headers"] = [["content-type", "application/json"]];

const exchange = (
  n: number,
  request: Partial<ExchangeRecord["request"]>,
  [status, body]: readonly [number, object],
  startedMs = n * 10,
): ExchangeRecord => ({
  n,
  rule: "code.single-use",
  startedMs,
  durationMs: 2,
  request: { method: "GET", path: "/", headers: json, ...request },
  answer: {
    status,
    headers: [
      ["content-type", "application/json; charset=utf-8"],
      ["cache-control", "no-store"],
    ],
    text: JSON.stringify(body),
  },
});

const client = { id: "client-one", redirectUri: "https://client.example/callback" };
const credentials = (code: string): string =>
  JSON.stringify({ clientId: client.id, clientSecret: "‹client secret 1›", code });
const authorized = (n: number, timestamp: number): ExchangeRecord =>
  exchange(
    n,
    {
      path: `/open-api/oauth/authorize?clientId=${client.id}&state=ab12&redirectUri=${encodeURIComponent(client.redirectUri)}`,
    },
    [200, { timestamp, state: "ab12", code: "‹code 7›" }],
  );
const exchanged = (n: number, timestamp: number, tokens: readonly [string, string]): ExchangeRecord =>
  exchange(n, { method: "POST", path: "/open-api/oauth/access-token", body: credentials("‹code 7›") }, [
    200,
    { accessToken: tokens[0], refreshToken: tokens[1], expiresIn: 7_200, timestamp },
  ]);

const start = Date.parse("2030-01-01T00:00:00Z");
const twice: RuleResult = ruleThat.failed(
  "code.single-use",
  "the second exchange is refused",
  "it gave tokens",
  [
    authorized(1, start),
    exchanged(2, start + 5, ["‹access token 1›", "‹refresh token 1›"]),
    exchanged(3, start + 9, ["‹access token 2›", "‹refresh token 2›"]),
  ],
);
const late: RuleResult = ruleThat.failed("code.lifetime", "the code is refused", "accepted", [
  authorized(1, start),
  exchanged(2, start + 600_500, ["‹access token 1›", "‹refresh token 1›"]),
]);

const runOf = (...rules: readonly RuleResult[]) => [
  gateRun(rules, { target: { ...recordOf().target, baseUrl: "https://staging.example/open" } }),
];

describe("an exchange as a curl line", () => {
  it("names credentials as environment variables and quotes everything else", () => {
    const [, second] = twice.exchanges;
    expect(curlOf(second ?? authorized(1, 0), "https://staging.example/open")).toBe(
      `curl --silent --show-error --include --globoff --path-as-is --request POST https://staging.example/open-api/oauth/access-token --header 'content-type: application/json' --data-binary '{"clientId":"client-one","clientSecret":"'"$CLIENT_SECRET_1"'","code":"'"$CODE_7"'"}'`,
    );
  });

  it("makes what is nearly a credential from it, where a shell can", () => {
    const printed = (how: Nearness): string => {
      const nearly = { "‹nearly code 7›": how };
      const line = curlOf(
        exchange(1, { path: "/", headers: [], body: "‹nearly code 7›", nearly }, [200, {}]),
        "",
      );
      const env = { PATH: process.env["PATH"], CODE_7: "Abc$(d)", NEARLY_CODE_7: "by hand" };
      const script = line.replace("curl", String.raw`printf '%s\n'`);
      return (
        execFileSync("/bin/sh", ["-c", script], { encoding: "utf8", env }).trimEnd().split("\n").at(-1) ?? ""
      );
    };
    expect(printed({ end: 1, drop: 1 })).toBe("Abc$(d");
    expect(printed({ end: 1, drop: 1, put: "x" })).toBe("Abc$(dx");
    expect(printed({ end: 0, put: "x" })).toBe("Abc$(d)x");
    expect(printed({ start: 0, drop: 2 })).toBe("c$(d)");
    expect(printed({ start: 0, put: "x" })).toBe("xAbc$(d)");
    expect(printed({ to: "upper case" })).toBe("ABC$(D)");
    expect(printed({ start: 2, drop: 1 })).toBe("by hand");
    expect(printed({ start: 0, put: "$(echo expanded)" })).toBe("by hand");
  });

  it("quotes text of the service against shell expansion", () => {
    const line = curlOf(
      exchange(1, { path: "/a'$(id)`x`\\", headers: [] }, [200, {}]),
      "https://staging.example",
    );
    const printed = execFileSync("/bin/sh", ["-c", line.replace("curl", String.raw`printf '%s\n'`)], {
      encoding: "utf8",
    });
    expect(printed.split("\n")).toContain("https://staging.example/a'$(id)`x`\\");
  });
});

it("the HTTP Archive has a page for each failure and an entry for each exchange, with labels instead of secrets", () => {
  const { log } = JSON.parse(renderHar(failuresOf(runOf(twice, late)), { version: "1" })) as {
    log: {
      version: string;
      pages: { title: string }[];
      entries: { request: { url: string; postData?: { text: string } } }[];
    };
  };
  expect(log.version).toBe("1.2");
  expect(log.pages.map(({ title }) => title.split(":")[0])).toEqual(["code.single-use", "code.lifetime"]);
  expect(log.entries).toHaveLength(5);
  expect(log.entries[1]?.request.postData?.text).toContain("‹code 7›");
  expect(log.entries[0]?.request.url).toMatch(/^https:\/\/staging\.example\/open-api\/oauth\/authorize/);
});

it("the HTTP Archive holds what the service said without anything that acts on a terminal", () => {
  const evil = exchange(1, {}, [200, { said: hostile }]);
  const text = renderHar(failuresOf(runOf(ruleThat.failed("code.single-use", "a", hostile, [evil]))), {
    version: "1",
  });
  expect(text).not.toMatch(unsafeCharacters);
  expect(JSON.parse(text)).toMatchObject({
    log: { entries: [{ response: { content: { text: evil.answer?.text } } }] },
  });
});

it("the HTTP Archive sends a push to its receiver, and says when it came", () => {
  const push = (n: number, clockMs: number): ExchangeRecord => ({
    ...exchange(n, { method: "POST", path: "/webhook", headers: [["Host", "receiver.example:8443"]] }, [
      500,
      {},
    ]),
    isPush: true,
    clockMs,
  });
  const failed = ruleThat.failed("push.unacknowledged-retries", "a", "b", [
    push(1, start),
    push(2, start + 60_000),
  ]);
  const { log } = JSON.parse(renderHar(failuresOf(runOf(failed)), { version: "1" })) as {
    log: { entries: { comment?: string; request: { url: string } }[] };
  };
  expect(log.entries.map(({ request }) => request.url)).toEqual([
    "https://receiver.example:8443/webhook",
    "https://receiver.example:8443/webhook",
  ]);
  expect(log.entries.map(({ comment }) => comment)).toEqual([
    "a push, sent by the service to its receiver",
    "a push, sent by the service to its receiver; +1 min after the first one, on the service's clock",
  ]);
});

const node = (file: string, ...args: readonly string[]) => ({
  with: (env: Readonly<Record<string, string>>): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [file, ...args], { env }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }),
      );
    }),
});

const scriptOf = (...rules: readonly RuleResult[]): string => {
  const file = path.join(folder, "failures.mjs");
  writeFileSync(file, renderScript(failuresOf(runOf(...rules)), { program: "touchstone" }));
  return file;
};

/** A fake and the exchanges of a rule as its clients would send them. */
const withFake = async <T>(
  behaviour: string,
  rule: RuleResult,
  use: (told: RuleResult, fake: { baseUrl: string; secret: string; advanceUrl: string }) => Promise<T>,
): Promise<T> => {
  const fake = await startFakeServer({ behaviour });
  try {
    const { baseUrl, clients, hooks } = profileOf(fake);
    const [first] = clients;
    const [secret = ""] = Object.values(secretsOf(fake));
    const advance = hooks?.clock?.advance;
    const told = JSON.stringify(rule)
      .replaceAll(client.id, first?.id ?? "")
      .replaceAll(encodeURIComponent(client.redirectUri), encodeURIComponent(first?.redirectUri ?? ""));
    const advanceUrl = advance !== undefined && "http" in advance ? advance.http.url : "";
    return await use(JSON.parse(told) as RuleResult, { baseUrl, secret, advanceUrl });
  } finally {
    await fake.stop();
  }
};

/** For machines without curl: understands the options that our lines use. */
const inPlaceOfCurl = `#!${process.execPath}
const words = process.argv.slice(2);
const options = { headers: [] };
let url = "";
for (let at = 0; at < words.length; at += 1) {
  if (words[at] === "--request") options.method = words[(at += 1)];
  else if (words[at] === "--header") options.headers.push(words[(at += 1)].split(": "));
  else if (words[at] === "--data-binary") options.body = words[(at += 1)];
  else if (!words[at].startsWith("--")) url = words[at];
}
const answer = await fetch(url, options);
console.log("HTTP/1.1 " + answer.status + "\r\n\r\n" + (await answer.text()));
`;

/** Sends the lines one after another as a reader does, who copies each credential from the answer that issues it. */
const statusesOf = (behaviour: string, rule: RuleResult): Promise<readonly number[]> =>
  withFake(behaviour, rule, async ({ exchanges }, { baseUrl, secret }) => {
    writeFileSync(path.join(folder, "curl"), inPlaceOfCurl, { mode: 0o755 });
    const env: Record<string, string> = {
      PATH: `${process.env["PATH"] ?? ""}:${folder}`,
      CLIENT_SECRET_1: secret,
    };
    const statuses = [];
    for (const one of exchanges) {
      const { stdout } = await promisify(execFile)("/bin/sh", ["-c", curlOf(one, baseUrl)], { env });
      const [headers = "", body = ""] = stdout.split("\r\n\r\n");
      statuses.push(Number(headers.split(" ")[1]));
      const now = JSON.parse(body) as Record<string, unknown>;
      for (const [key, value] of Object.entries(JSON.parse(one.answer?.text ?? "{}") as object)) {
        const [, label] = /^‹(.*)›$/.exec(String(value)) ?? [];
        if (label !== undefined) env[label.toUpperCase().replaceAll(" ", "_")] = String(now[key]);
      }
    }
    return statuses;
  });

it("the curl lines of a failure reproduce it against the defect, but not against the sound service", async () => {
  expect(await statusesOf("code-reusable", twice)).toEqual([200, 200, 200]);
  const [authorize, first, second] = await statusesOf("sound", twice);
  expect([authorize, first]).toEqual([200, 200]);
  expect(second).toBeGreaterThanOrEqual(400);
});

describe("the script", () => {
  const tried = (behaviour: string, rule: RuleResult): Promise<{ code: number; stdout: string }> =>
    withFake(behaviour, rule, async (told, { baseUrl, secret, advanceUrl }) => {
      const mover = path.join(folder, "advance.mjs");
      writeFileSync(
        mover,
        `await fetch(${JSON.stringify(advanceUrl)},{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({ms:Number(process.env.MS)})})`,
      );
      return node(scriptOf(told)).with({
        BASE_URL: baseUrl,
        CLIENT_SECRET_1: secret,
        ADVANCE_COMMAND: `"${process.execPath}" "${mover}"`,
      });
    });

  it.each([
    ["code.single-use", twice, "code-reusable"],
    ["code.lifetime", late, "code-lives-a-second-longer"],
  ] as const)(
    "of %s fails against the defect, and passes against the sound service",
    async (_, rule, defect) => {
      const broken = await tried(defect, rule);
      expect(broken.stdout).toContain("STILL BROKEN");
      expect(broken.code).toBe(1);
      const mended = await tried("sound", rule);
      expect(mended.stdout).toContain("answers differently now");
      expect(mended.code).toBe(0);
    },
  );

  it("does nothing to a terminal, read or run, and prints no endless line, whatever the service answers", async () => {
    const evil = exchange(1, { path: "/one" }, [200, { [hostile]: hostile + "L".repeat(60_000) }]);
    const answered = { text: evil.answer?.text ?? "" };
    const server = createServer((_, response) => {
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.setHeader("cache-control", "no-store");
      response.end(answered.text);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const rule = ruleThat.failed("exchange.errors", hostile, hostile + "L".repeat(60_000), [evil]);
    const file = scriptOf(rule);
    expect(readFileSync(file, "utf8")).not.toMatch(unsafeCharacters);
    const same = await node(file).with({ BASE_URL });
    answered.text = JSON.stringify({ [`${hostile}!`]: `other ${hostile}` });
    const other = await node(file).with({ BASE_URL });
    server.close();
    expect([same.code, other.code]).toEqual([1, 0]);
    for (const { stdout } of [same, other]) {
      expect(stdout).not.toMatch(unsafeCharacters);
      expect(stdout).not.toMatch(ciCommand);
      expect(stdout).toContain(String.raw`\u202etxt.exe`);
      expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(2_100);
    }
    expect(same.stdout).toMatch(/L… \(60,\d+ characters\)/);
    // A record may hold any rule.
    const unknown = await node(scriptOf({ ...rule, id: hostile as RequirementId }), "code.unknown").with({});
    expect(unknown.stderr).toContain(String.raw`\u202etxt.exe`);
    expect(unknown.stderr.trimEnd()).not.toMatch(unsafeCharacters);
    expect(unknown.stderr).not.toMatch(ciCommand);
  });

  it("exits with 3 if the failure could not be tried", async () => {
    const silent = await node(scriptOf(twice)).with({ BASE_URL: "http://127.0.0.1:9", CLIENT_SECRET_1: "x" });
    expect(silent).toMatchObject({ code: 3, stdout: expect.stringContaining("ECONNREFUSED") as unknown });
    const push = ruleThat.failed("push.cap", "a", "b", twice.exchanges);
    expect(await node(scriptOf(push)).with({})).toMatchObject({ code: 3 });
    expect(await node(scriptOf(twice), "code.unknown").with({})).toMatchObject({ code: 3 });
    const body =
      '{"clientId":"client-one","clientSecret":"‹another client secret, 30 characters›","code":"‹code 7›"}';
    const altered = exchange(2, { method: "POST", path: "/open-api/oauth/access-token", body }, [200, {}]);
    const wrong = ruleThat.failed("exchange.authenticates-client", "it is refused", "it got tokens", [
      altered,
    ]);
    expect(await node(scriptOf(wrong)).with({})).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("the record hides a client secret") as unknown,
    });
  });
});
