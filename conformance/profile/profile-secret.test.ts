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
});
