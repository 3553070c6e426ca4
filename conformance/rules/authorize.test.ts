import { expect, test } from "vitest";
import { codeAndState, redirectTo } from "../../fake-server/answer.ts";
import { parseQuery } from "../../fake-server/requests.ts";
import { withQuery } from "../arbitraries/redirect-uri.ts";
import { judge } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";

test("authorize.state-length finds from percent-encoded letters how a service counts bytes", async () => {
  const verdict = await judge(ruleFor("authorize.state-length"));
  expect(verdict).toMatchObject({ kind: "passed", facts: { readings: ["bytes-after-decoding"] } });
});

test("a state is judged even if its refusal comes only over a connection that has carried nothing else", async () => {
  const verdict = await judge(ruleFor("authorize.state-charset"), {
    behaviour: "advice-second-request-hangs",
    profile: (profile) => ({ ...profile, tolerances: { requestTimeoutMs: 1_000 } }),
  });
  expect(verdict).toMatchObject({ kind: "passed", facts: { repeated: expect.any(Number) as number } });
});

test("a code must not lead to an address without a scheme either", async () => {
  const behaviour = behaving((sound) => ({
    acceptsRedirectUri: (redirectUri = "", ...more) =>
      redirectUri.startsWith("//") || sound.acceptsRedirectUri(redirectUri, ...more),
    renderAuthorized: (fields, redirectUri) => redirectTo(withQuery(redirectUri, codeAndState(fields))),
  }));
  const verdict = await judge(ruleFor("authorize.unregistered-redirect"), { behaviour });
  expect(verdict).toMatchObject({
    kind: "warned",
    breach: { actual: expect.stringMatching(/^no scheme /) as string },
  });
});

test("a redirect within the service leads to no other address, even with a code", async () => {
  const registered = new Set<string | undefined>();
  const behaviour = behaving((sound) => ({
    acceptsRedirectUri: (redirectUri, ...more) => {
      if (sound.acceptsRedirectUri(redirectUri, ...more)) registered.add(redirectUri);
      return true;
    },
    renderAuthorized: (fields, redirectUri) =>
      redirectTo(withQuery(registered.has(redirectUri) ? redirectUri : "/consent", codeAndState(fields))),
  }));
  const verdict = await judge(ruleFor("authorize.unregistered-redirect"), { behaviour });
  expect(verdict).toMatchObject({ kind: "passed" });
});

test.each([
  ["sound", "not-applicable"],
  ["authorize-any-redirect-uri", "not-applicable"],
  ["redirect-302", "passed"],
])("unregistered addresses are judged where codes come by redirect: %s", async (behaviour, kind) => {
  expect(await judge(ruleFor("authorize.unregistered-redirect"), { behaviour })).toMatchObject({ kind });
});

test("a parameter that the parser dropped is no state that was accepted", async () => {
  const behaviour = behaving((sound) => ({
    readQuery: (raw) => {
      const isWellFormed = (pair: string): boolean => parseQuery(pair) !== undefined;
      return parseQuery(raw.split("&").filter(isWellFormed).join("&"));
    },
    acceptsState: (state = "", ...more) => state.trim() === "" || sound.acceptsState(state, ...more),
    authorizeFields: (record, ...more) => ({
      ...sound.authorizeFields(record, ...more),
      state: record.state.trim() === "" ? null : record.state,
    }),
  }));
  const verdict = await judge(ruleFor("authorize.state-charset"), { behaviour, effort: "standard" });
  expect(verdict).toMatchObject({ kind: "passed" });
});

test("a state that is not well-formed and comes back is one that was accepted", async () => {
  const behaviour = behaving((sound) => ({
    readQuery: (raw) => parseQuery(raw) ?? parseQuery(raw.replaceAll("%zz", "%25zz")),
    acceptsState: (state = "", ...more) => sound.acceptsState(state.replace("%zz", ""), ...more),
  }));
  const verdict = await judge(ruleFor("authorize.state-charset"), { behaviour });
  expect(verdict).toMatchObject({
    kind: "failed",
    breach: { actual: expect.stringContaining("(%zz)") as string },
  });
});
