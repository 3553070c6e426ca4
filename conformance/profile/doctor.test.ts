import { writeFileSync } from "node:fs";
import https from "node:https";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { profileOf, secretsOf } from "../../fake-server/serve.ts";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { currentLeaf, makeCa } from "../../fake-server/receiver/certificate.ts";
import { examine } from "../engine/conform.ts";
import type { Check } from "../contract/check.ts";
import type { Profile } from "../contract/profile.ts";
import { profileChecks, profileMistakes } from "./doctor.ts";
import { ConfigurationError } from "../contract/problem.ts";
import { loadProfile, type ResolvedProfile } from "./profile.ts";
import { runOptions, startFake } from "../testing/fake.ts";
import { listening, serveConsentPage } from "../testing/servers.ts";
import { stopAfterAll, stopAfterEach } from "../testing/stopping.ts";
import { folderOfFile } from "../testing/folders.ts";

const stopping = stopAfterEach();
const TODAY = "2030-06-15";

const folder = folderOfFile();
const fake = await stopAfterAll()(startFake());

const sound = (): Profile => profileOf(fake.server);

/** Everything that doctor says about a profile, as the command composes it. */
const diagnose = async (
  profile: unknown,
  environment = secretsOf(fake.server),
): Promise<readonly Check[]> => {
  const file = path.join(folder, "profile.json");
  writeFileSync(file, JSON.stringify(profile));
  let resolved: ResolvedProfile;
  try {
    resolved = await loadProfile(file, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return profileMistakes(error as ConfigurationError);
  }
  const settings = resolved.receiver?.kind === "listen" ? resolved.receiver : {};
  const receiver = await stopping(startReceiver(settings));
  return [
    ...profileChecks(resolved, environment, TODAY),
    ...(await examine(resolved, { ...runOptions(), receiver })),
  ];
};

const failed = (checks: readonly Check[]): readonly Check[] => checks.filter(({ ok }) => ok === false);

describe("the doctor", () => {
  /** An HTTPS service with an unknown authority. */
  const untrusted = async (): Promise<string> => {
    const leaf = await currentLeaf(await makeCa(Date.now()), ["127.0.0.1"], Date.now());
    const server = https.createServer({ key: leaf.keyPem, cert: leaf.certPem }, (_, response) =>
      response.end(),
    );
    return (await stopping(listening(server))).origin;
  };

  const behindConsent = async (): Promise<string> =>
    (await stopping(serveConsentPage(() => fake.server.baseUrl))).origin;

  it.each<[mistake: string, change: () => object | Promise<object>, where: string, words: readonly string[]]>(
    [
      [
        "a certificate authority missing from the profile",
        async () => ({ baseUrl: await untrusted() }),
        "base address",
        ["certificate is not trusted", "network.caFile"],
      ],
      [
        "a consent page before authorize",
        async () => ({ baseUrl: await behindConsent() }),
        "clients[0]",
        ["authorize", "consent"],
      ],
      [
        "a receiver that the service cannot reach",
        // Where nobody listens. A name would be asked of the machine's name server, which may take its time.
        () => ({ receiver: { listen: { publicHost: "127.0.0.2" } } }),
        "hooks.callback.register",
        ["127.0.0.2"],
      ],
      [
        "an expired waiver",
        () => ({ waivers: [{ id: "code.lifetime", reason: "r", owner: "the team", expires: "2030-06-14" }] }),
        "waiver of code.lifetime",
        ["expired on 2030-06-14", "the team"],
      ],
    ],
  )("reports %s, with a remedy", async (_, change, where, words) => {
    const checks = await diagnose({ ...sound(), ...(await change()) });
    expect(failed(checks).map(({ check }) => check)[0]).toBe(where);
    const [first] = failed(checks);
    for (const word of words) expect(`${first?.message} ${first?.remedy}`).toContain(word);
    expect(first?.remedy).toMatch(/\w/);
  });
});
