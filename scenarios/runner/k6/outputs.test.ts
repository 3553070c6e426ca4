import { describe, expect, it } from "vitest";
import { k6Environment } from "./environment.ts";
import { outputFlags, parseK6Output, type K6Output } from "./outputs.ts";

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
