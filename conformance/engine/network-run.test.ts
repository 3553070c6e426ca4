import https from "node:https";
import { expect, it } from "vitest";
import { currentLeaf, makeCa } from "../../fake-server/receiver/certificate.ts";
import { conform } from "./conform.ts";
import type { Profile } from "../contract/profile.ts";
import { rules } from "../rules/index.ts";
import { runOptions, startFake, type FakeTarget } from "../testing/fake.ts";
import { listening, passOn } from "../testing/servers.ts";
import { stopAfterEach } from "../testing/stopping.ts";

const stopping = stopAfterEach();
const NAME = "service.test";

/** The fake and its control interface behind TLS, under a name that does not resolve, with an unknown authority. */
const behindTls = async ({ server }: FakeTarget) => {
  const authority = await makeCa(Date.now());
  const { certPem: cert, keyPem: key } = await currentLeaf(authority, [NAME], Date.now());
  const seen = new Set<string>();
  const front = https.createServer({ cert, key }, (asked, response) => {
    const isControl = asked.url?.startsWith("/control/") === true;
    seen.add(isControl ? "hook" : "service");
    if (isControl) passOn(server.controlUrl, asked, response, asked.url?.slice("/control".length));
    else passOn(server.baseUrl, asked, response);
  });
  const { port } = await stopping(listening(front));
  return { origin: `https://${NAME}:${port}`, ca: authority.certPem, seen };
};

it("target and hooks use the network settings of the profile", async () => {
  const fake = await stopping(startFake());
  const { origin, ca, seen } = await behindTls(fake);
  const clock: NonNullable<Profile["hooks"]>["clock"] = {
    now: { http: { url: `${origin}/control/clock` }, result: "/now" },
    advance: { http: { url: `${origin}/control/clock/advance`, body: { ms: "{{ms}}" } } },
  };
  const resolved = await fake.resolved({ baseUrl: origin, hooks: { clock } });
  // Some of these rules send invalid HTTP; one moves the clock.
  const ids = ["authorize.state-charset", "code.single-use", "code.lifetime"];
  const { results } = await conform({
    ...runOptions(),
    resolved: { ...resolved, network: { ca, resolve: { [NAME]: "127.0.0.1" } } },
    rules: rules.filter(({ requirement }) => ids.includes(requirement)),
  });
  expect(Object.fromEntries(results.map(({ id, verdict }) => [id, verdict.kind]))).toEqual(
    Object.fromEntries(ids.map((id) => [id, "passed"])),
  );
  expect([...seen].toSorted()).toEqual(["hook", "service"]);

  // Without the override the name does not resolve; a machine's resolver may take a while to say so.
  await expect(conform({ ...runOptions(), resolved, rules: [] })).rejects.toThrow(
    /cannot be resolved|gives no answer in time/,
  );
});
