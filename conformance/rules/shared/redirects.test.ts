import { expect, test } from "vitest";
import { strayLocation } from "./redirects.ts";

const answer = (location: string, status = 302) => ({
  exchange: 1,
  status,
  headers: [["location", location]] as const,
  text: "",
  json: undefined,
});
const redirectUri = "https://bücher.example:8443/rück?q=a%26b&r=1";

test.each([
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a%26b&r=1&code=c&state=s",
  "https://xn--bcher-kva.example:8443/r%c3%bcck?state=s&code=c&q=a%26b&r=1",
  "https://bücher.example:8443/rück?q=a%26b&r=1#code=c&state=s",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?code=c&r=1&q=a%26b&state=s",
])("accepts %s as the whole redirectUri", (location) => {
  expect(strayLocation(answer(location), redirectUri)).toBeUndefined();
});

test.each([
  "https://xn--bcher-kva.example/r%C3%BCck?q=a%26b&r=1&code=c",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a%26b&code=c",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a&b&r=1&code=c",
  "https://xn--bcher-kva.example:8443/R%C3%BCck?q=a%26b&r=1&code=c",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a%26b&r=1?code=c",
])("reports %s as another address", (location) => {
  expect(strayLocation(answer(location), redirectUri)).toBe(new URL(location).href);
});

test("ignores the Location of an answer that is not a redirect", () => {
  expect(strayLocation(answer("https://elsewhere.example/", 200), redirectUri)).toBeUndefined();
});

test("keeps the order of parameters with equal names", () => {
  const asked = "https://client.example/callback?q=2&r=1&q=1";
  const location = "https://client.example/callback?code=c&q=2&q=1&r=1";
  expect(strayLocation(answer(location), asked)).toBeUndefined();
  const turned = "https://client.example/callback?code=c&q=1&q=2&r=1";
  expect(strayLocation(answer(turned), asked)).toBe(turned);
});
