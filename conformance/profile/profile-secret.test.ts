import { describe, expect, it } from "vitest";
import { loadEnvironment } from "./profile-secret.ts";

describe("the environment of a load run", () => {
  it("is the user's, with the certificate authority of the profile added", () => {
    expect(loadEnvironment({}, { A: "1" })).toEqual({ A: "1" });
    expect(loadEnvironment({ network: { caFile: "/ca.pem" } }, { A: "1" })).toEqual({
      A: "1",
      SSL_CERT_FILE: "/ca.pem",
    });
  });

  it("is refused if the profile has network or consent settings that k6 cannot follow", () => {
    const code = { command: ["./get-code.sh"] };
    const profile = {
      network: { proxy: { url: "http://proxy:1" }, resolve: { a: "::1" } },
      authorize: { code },
    };
    expect(() => loadEnvironment(profile, {})).toThrow(
      /network\.proxy.*\n.*network\.resolve.*\n.*authorize\.code/,
    );
  });
});
