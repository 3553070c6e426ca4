import { describe, expect, it } from "vitest";
import { createCookies } from "./cookies.ts";

const settingOf = (...cookies: readonly string[]) => ({
  headers: cookies.map((cookie) => ["set-cookie", cookie] as const),
});

const sentTo = (path: string, cookies: ReturnType<typeof createCookies>, ...own: readonly string[]) =>
  cookies
    .added({ path, headers: own.map((value) => ["Cookie", value] as const) })
    .filter(([name]) => name.toLowerCase() === "cookie");

describe("cookies of a case", () => {
  it("go back beside those of the request, in one header", () => {
    const cookies = createCookies();
    expect(cookies.areSet()).toBe(false);
    cookies.keep({ path: "/a" }, settingOf("session=1; Path=/; HttpOnly", "b=2=3; Path=/"));
    cookies.keep({ path: "/a" }, settingOf("session=4; Path=/"));
    expect(sentTo("/x?y=1", cookies, "own=0")).toEqual([["cookie", "own=0; session=4; b=2=3"]]);
  });

  it("go only to their path, by default that of the request that set them without its last part", () => {
    const cookies = createCookies();
    cookies.keep({ path: "/open-api/oauth/authorize?state=1" }, settingOf("a=1", "b=2; Path=/open-api/v1"));
    expect(sentTo("/open-api/oauth/access-token", cookies)).toEqual([["cookie", "a=1"]]);
    expect(sentTo("/open-api/v1/notifications", cookies)).toEqual([["cookie", "b=2"]]);
    expect(sentTo("/open-api/v12", cookies)).toEqual([]);
  });

  it("go no longer once the service has deleted them", () => {
    const cookies = createCookies();
    cookies.keep({ path: "/" }, settingOf("a=1", "b=2"));
    cookies.keep({ path: "/" }, settingOf("a=; Max-Age=0", "b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"));
    expect(cookies.areSet()).toBe(false);
  });
});
