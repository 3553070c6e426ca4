import { describe, expect, it } from "vitest";
import { k6Environment, outputFlags, parseK6Output, type K6Output } from "./outputs.ts";
import { endOf } from "./exit.ts";
import { readLogLine } from "./start.ts";
import { isAtLeast, judgeVersion } from "./find.ts";

describe("versions of k6", () => {
  it.each([
    ["k6 v1.8.1 (go1.26.8, linux/amd64)", "1.8.1"],
    ["k6 v1.0.0 (commit/abc, go1.24, darwin/arm64)\nExtensions:\n  x v1\n", "1.0.0"],
    ["k6 v2.0.0-rc1 ((devel), go1.26, linux/amd64)", "2.0.0-rc1"],
    ["k6.exe v1.2.3 (go1.24, windows/amd64)", "1.2.3"],
  ])("are usable: %s", (printed, version) => {
    expect(judgeVersion(printed)).toEqual({ usable: true, version });
  });

  it.each(["k6 v0.57.0 (go1.23, linux/amd64)", "k6 version unknown", "", "hello v1.8.1"])(
    "are not usable: %s",
    (printed) => {
      expect(judgeVersion(printed).usable).toBe(false);
    },
  );

  it("are compared by number", () => {
    const newer = ["1.10.0", "1.2.9", "2.0.0"].filter((version) => isAtLeast(version, 1, 3));
    expect(newer).toEqual(["1.10.0", "2.0.0"]);
  });
});

describe("k6's end", () => {
  it("has a meaning of its own for each exit code of k6", () => {
    const codes = [0, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110];
    const meanings = codes.map((code) => endOf(code, null, false).meaning);
    expect(new Set(meanings).size).toBe(codes.length);
    for (const meaning of meanings) expect(meaning).not.toMatch(/unknown/);
    expect(endOf(77, null, false)).toEqual({
      exitCode: 77,
      meaning: "ended with exit code 77, which is unknown",
      says: "harness",
    });
  });

  it.each([
    [105, null, true, "stopped"],
    [105, null, false, "interrupted"],
    [null, "SIGKILL", true, "stopped"],
    [null, "SIGKILL", false, "interrupted"],
    [null, "SIGSEGV", false, "harness"],
    [0, null, true, "finished"],
    [107, null, true, "harness"],
  ])("with code %s or signal %s, asked for: %s, says %s", (code, signal, asked, says) => {
    expect(endOf(code, signal, asked).says).toBe(says);
  });

  it("by force has its signal and no code", () => {
    const killed = { signal: "SIGKILL", meaning: "was stopped by force", says: "stopped" };
    expect(endOf(null, "SIGKILL", true)).toEqual(killed);
  });
});

describe("k6's environment", () => {
  it("contains what k6 needs, but none of the user's settings and none of the profile's secrets", () => {
    const { variables, ignored } = k6Environment(
      {
        PATH: "/bin",
        HOME: "/home/me",
        K6_VUS: "9",
        K6_OUT: "cloud",
        http_proxy: "http://p",
        CLIENT_1_SECRET: "s",
        NODE_EXTRA_CA_CERTS: "/ca.pem",
      },
      { TOUCHSTONE_SETTINGS: "/run/settings.json" },
    );
    expect(ignored).toEqual(["K6_OUT", "K6_VUS", "http_proxy"]);
    expect(variables).toMatchObject({
      PATH: "/bin",
      SSL_CERT_FILE: "/ca.pem",
      K6_CSV_TIME_FORMAT: "unix_micro",
      TOUCHSTONE_SETTINGS: "/run/settings.json",
      K6_AUTO_EXTENSION_RESOLUTION: "false",
    });
    for (const name of ["K6_VUS", "K6_OUT", "http_proxy", "CLIENT_1_SECRET"])
      expect(variables).not.toHaveProperty(name);
  });
});

describe("a line of k6's log", () => {
  const trouble = { kind: "trouble", what: 'no "code" came back' };
  const told = { level: "error", msg: `touchstone:${JSON.stringify(trouble)}`, source: "console" };
  const thrown = { level: "error", msg: "Error: boom\n\tat f\n", source: "stacktrace" };
  const failed = { level: "warning", msg: "Request Failed", error: "dial tcp" };
  const panic = "panic: out of range";

  it.each([
    [JSON.stringify(told), { kind: "message", message: trouble }],
    [JSON.stringify(thrown), { kind: "exception", text: "Error: boom\n\tat f" }],
    [JSON.stringify(failed), { kind: "words", level: "warning", text: "Request Failed: dial tcp" }],
    [panic, { kind: "words", level: "error", text: panic }],
    [
      '{"level":"info","msg":"touchstone:{broken"}',
      { kind: "words", level: "info", text: "touchstone:{broken" },
    ],
    ["null", { kind: "words", level: "error", text: "null" }],
  ])("is read as a script's message, an exception or plain text: %s", (line, read) => {
    expect(readLogLine(line)).toEqual(read);
  });
});

const output: K6Output = { name: "opentelemetry", tags: { testid: "R", instance_id: "2" } };

describe("--k6-out", () => {
  it.each(["json", "json=out.json", "csv", "cloud"])("rejects %s, which would expose digests", (name) => {
    expect(() => parseK6Output(name)).toThrow(/--k6-out is ".*"; accepted is opentelemetry, .*digests/);
  });

  it("rejects another address of the dashboard", () => {
    expect(() => parseK6Output("web-dashboard=host=0.0.0.0")).toThrow("always a free port of 127.0.0.1");
  });

  it("keeps the dashboard on loopback, whatever the environment says", () => {
    const dashboard: K6Output = { ...output, name: "web-dashboard" };
    expect(outputFlags(dashboard, 5_665)[0]).toBe("--out=web-dashboard=host=127.0.0.1&port=5665&period=1s");
    const { variables, ignored } = k6Environment({ K6_WEB_DASHBOARD_HOST: "0.0.0.0" }, {}, dashboard);
    expect(variables).not.toHaveProperty("K6_WEB_DASHBOARD_HOST");
    expect(ignored).toEqual(["K6_WEB_DASHBOARD_HOST"]);
  });

  it("rejects an unknown output", () => {
    expect(() => parseK6Output("influxdb")).toThrow(
      '--k6-out is "influxdb"; accepted is opentelemetry, experimental-prometheus-rw or web-dashboard',
    );
  });

  it("passes on the output's own variables, and no other of k6's", () => {
    const user = { K6_OTEL_HEADERS: "a=b", K6_PROMETHEUS_RW_PASSWORD: "x", K6_VUS: "9" };
    const { variables, ignored } = k6Environment(user, {}, output);
    expect(variables).toMatchObject({ K6_OTEL_HEADERS: "a=b" });
    expect(variables).not.toHaveProperty("K6_VUS");
    expect(ignored).toEqual(["K6_PROMETHEUS_RW_PASSWORD", "K6_VUS"]);
    expect(k6Environment(user, {}).ignored).toEqual(Object.keys(user));
  });

  it("tags series with run and machine", () => {
    expect(outputFlags(output)).toEqual(["--out=opentelemetry", "--tag=testid=R", "--tag=instance_id=2"]);
    expect(outputFlags(undefined)).toEqual([]);
  });
});
