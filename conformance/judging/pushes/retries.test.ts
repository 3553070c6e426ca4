import { describe, expect, it } from "vitest";
import { outageOf, pushAt, pushRunOf, senderOf, withPushes } from "../../testing/push-runs.ts";
import { judgeCertificateCheck } from "./advisory.ts";

describe("a push around an outage with an untrusted certificate", () => {
  const onConnection = (id: number, n: number) =>
    pushAt(0, { kind: "answer" }, { line: { n, connection: { id, remotePort: 1, request: 1 } } });
  const judged = (id: number, n: number) => {
    const outages = [outageOf("untrusted", 20, 40)];
    const run = pushRunOf(senderOf("R1"), { outages, others: [onConnection(id, n)] });
    const connection = { id: 1, remotePort: 1, request: 1 };
    const others = withPushes(run, (push) => ({ ...push, line: { ...push.line, connection } }));
    return judgeCertificateCheck(others)?.judgement.kind;
  };

  it.each([
    ["passes if it came on a connection accepted before", 20, 25, "passed"],
    ["passes if it came before but was recorded late", 19, 20, "passed"],
    ["fails if it came on a connection accepted with that certificate", 21, 25, "failed"],
    ["fails if it came on such a connection but was recorded after the outage", 40, 41, "failed"],
    ["passes if it came later", 41, 42, "passed"],
  ] as const)("%s", (_, id, n, kind) => {
    expect(judged(id, n)).toBe(kind);
  });
});
