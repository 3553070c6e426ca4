import { expect, test } from "vitest";
import { strayLocation } from "./redirects.ts";

const answer = (location: string, status = 302) => ({
  exchange: 1,
  status,
  headers: [["location", location]] as const,
  text: "",
  json: undefined,
});
const asked = "https://bücher.example:8443/rück?q=a%26b&r=1";

test.each([
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a%26b&r=1&code=c&state=s",
  "https://xn--bcher-kva.example:8443/r%c3%bcck?state=s&code=c&q=a%26b&r=1",
  "https://bücher.example:8443/rück?q=a%26b&r=1#code=c&state=s",
])("the address is there whole in %s", (location) => {
  expect(strayLocation(answer(location), asked)).toBeUndefined();
});

test.each([
  "https://xn--bcher-kva.example/r%C3%BCck?q=a%26b&r=1&code=c",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a%26b&code=c",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a&b&r=1&code=c",
  "https://xn--bcher-kva.example:8443/R%C3%BCck?q=a%26b&r=1&code=c",
  "https://xn--bcher-kva.example:8443/r%C3%BCck?q=a%26b&r=1?code=c",
])("%s leads astray", (location) => {
  expect(strayLocation(answer(location), asked)).toBe(new URL(location).href);
});

test("an answer that is not a redirect leads nowhere", () => {
  expect(strayLocation(answer("https://elsewhere.example/", 200), asked)).toBeUndefined();
});
