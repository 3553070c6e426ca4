import { execFile, execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import type { ExchangeRecord, RuleResult } from "../../conformance/contract/record.ts";
import { startFakeServer, profileOf, secretsOf } from "../../fake-server/index.ts";
import { gateRun } from "../testing/ci-runs.ts";
import { recordOf, ruleThat } from "../testing/fixture.ts";
import { curlOf, failuresOf, renderHar } from "./har.ts";
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

  it("names what was made of a credential after how it was made", () => {
    const body = "‹code 7, last character changed›‹encoded code 1›";
    const line = curlOf(exchange(1, { path: "/", headers: [], body }, [200, {}]), "");
    expect(line).toMatch(/--data-binary "\$CODE_7_LAST_CHARACTER_CHANGED""\$ENCODED_CODE_1"$/);
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
  const { log } = JSON.parse(renderHar(failuresOf(runOf(twice, late)), "1")) as {
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
  const { log } = JSON.parse(renderHar(failuresOf(runOf(failed)), "1")) as {
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

/** A fake and the exchanges of a rule as its clients would send them. */
const withFake = async <T>(
  behaviour: string,
  rule: RuleResult,
  use: (told: RuleResult, fake: { baseUrl: string; secret: string }) => Promise<T>,
): Promise<T> => {
  const fake = await startFakeServer({ behaviour });
  try {
    const { baseUrl, clients } = profileOf(fake);
    const [first] = clients;
    const [secret = ""] = Object.values(secretsOf(fake));
    const told = JSON.stringify(rule)
      .replaceAll(client.id, first?.id ?? "")
      .replaceAll(encodeURIComponent(client.redirectUri), encodeURIComponent(first?.redirectUri ?? ""));
    return await use(JSON.parse(told) as RuleResult, { baseUrl, secret });
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
