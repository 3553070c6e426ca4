import fc from "fast-check";
import { anyCharacter } from "../testing/made.ts";
import { describe, expect, it, vi } from "vitest";
import { createSecrets } from "./secrets.ts";

const knowing = (...values: readonly string[]) => {
  const secrets = createSecrets();
  for (const value of values) secrets.conceal(value, "access token");
  return secrets;
};

/** Values as services make them, and as they should not. */
const values = [
  "Zm9vYmFyCg",
  "ab+cd/ef==",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl_-x",
  "with space and ünïcode 🦉",
  'quo"te\\back\nline',
  "a(b[c*d.e?f$g^h|i{2}",
  "$&$1$$",
  "100%25done",
  "0123456789",
];

describe("a known value", () => {
  it.each(values)("is masked in JSON, in addresses and in text: %j", (value) => {
    const { mask } = knowing(value);
    const label = "‹access token 1›";
    expect(mask(value)).toBe(label);
    expect(mask(`{"accessToken":${JSON.stringify(value)}}`)).toBe(`{"accessToken":"${label}"}`);
    expect(mask(`/cb?code=${encodeURIComponent(value)}&x=1`)).toBe(`/cb?code=${label}&x=1`);
    expect(mask(`Bearer ${value}, or (${value})`)).toBe(`Bearer ${label}, or (${label})`);
  });

  it.each([
    [String.raw`{"t":"ab\/cd"}`, "ab/cd"],
    [String.raw`{"t":"ab\u002Bcd"}`, "ab+cd"],
    [String.raw`{"t":"ab\u002bcd"}`, "ab+cd"],
    [String.raw`{"t":"ab\u003d\u003d"}`, "ab=="],
    [String.raw`{"t":"ab+c\/d\u003D"}`, "ab+c/d="],
    [String.raw`"{\"t\":\"ab\\u003c\\/cd\"}"`, "ab</cd"],
    [String.raw`{"t":"\u00fc\ud83e\udd89abcd"}`, "ü🦉abcd"],
    ["/cb?t=ab%2bcd", "ab+cd"],
  ])("is masked in %s, with the escapes of other services", (text, value) => {
    expect(knowing(value).mask(text)).toContain("‹access token 1›");
  });

  it("is masked next to other values, whatever separates them", () => {
    const { mask } = knowing("aaaa.bbbb.cccc", "dddddd");
    for (const separator of ["=", "/", "?", ".", "~", "+", "&", ":", "%20", "%22", "\0", "é"])
      expect(mask(`x${separator}aaaa.bbbb.cccc${separator}dddddd${separator}y`)).toBe(
        `x${separator}‹access token 1›${separator}‹access token 2›${separator}y`,
      );
  });

  it("is masked as a whole if it contains another value", () => {
    const inner = ["aaaa", "bbbb.cccc", "cccc"];
    for (const order of [inner.toReversed(), inner]) {
      const { mask } = knowing(...order, "aaaa.bbbb.cccc");
      expect(mask("<aaaa.bbbb.cccc>")).toBe("<‹access token 4›>");
      expect(mask("<bbbb.cccc.aaaa>")).not.toMatch(/aaaa|bbbb|cccc/);
    }
  });

  it("keeps its label, which no other value gets", () => {
    const secrets = knowing("first-one", "second-one");
    secrets.conceal("first-one", "code");
    secrets.conceal("third-one", "code");
    expect(secrets.mask("first-one second-one third-one first-one")).toBe(
      "‹access token 1› ‹access token 2› ‹code 1› ‹access token 1›",
    );
  });

  it("is masked and found, whatever its characters and its neighbours", () => {
    const value = fc.string({ unit: "grapheme", minLength: 4, maxLength: 30 });
    const around = fc.constantFrom("", " ", '"', "=", "/", "?a=", "\n", "é", "…");
    fc.assert(
      fc.property(value, around, around, (secret, before, after) => {
        const { mask, find } = knowing(secret);
        const text = `${before}${secret}${after}`;
        fc.pre(!"‹access token 1›".includes(secret));
        expect(mask(text)).toBe(`${before}‹access token 1›${after}`);
        expect(find(text, ["access token"])).toBe("‹access token 1›");
      }),
      { numRuns: 300 },
    );
  });
});

describe("an encoded value", () => {
  const encodings: readonly (readonly [string, (text: string) => string])[] = [
    ["base64", (text) => Buffer.from(text).toString("base64")],
    ["base64 for addresses", (text) => Buffer.from(text).toString("base64url")],
  ];

  it.each(encodings)("is masked in %s, alone and within a longer text", (_, encode) => {
    for (const value of ["Zm9vYmFyCg-0123456789", "with space and 🦉", "a+b/c=d%25e"])
      for (const [before, after] of [
        ["", ""],
        ["user:", ""],
        ["x ", " y"],
        ['{"a":"', '"}'],
        ["12 ", "\n"],
      ]) {
        const secrets = createSecrets();
        secrets.conceal(value, "client secret");
        const text = `see ${encode(`${before}${value}${after}`)} there`;
        expect(secrets.mask(text)).toMatch(/^see .*‹(?:encoded )?client secret 1›.* there$/);
        expect(secrets.mask(text)).not.toContain(encode(value).slice(4, -6));
      }
  });

  it("is masked in JSON within JSON, behind any escape, and with every character escaped", () => {
    const value = `a"b<c>&'d/e-0123`;
    const { mask } = knowing(value, "plain-0123456789");
    expect(mask(JSON.stringify(JSON.stringify(value)).slice(3, -3))).toBe("‹access token 1›");
    const escaped = Array.from("plain-0123456789", (one) => `\\u00${one.charCodeAt(0).toString(16)}`);
    expect(mask(escaped.join(""))).toBe("‹access token 2›");
    for (const before of ["%22", "%2522", "%252522", "\\n", '\\\\\\"', "\\u0022", "%5Cu0022"])
      expect(mask(`${before}plain-0123456789`)).toMatch(/^.{2,8}‹access token 2›$/);
  });

  it("does not affect other encoded text", () => {
    const { mask } = knowing("secret-value-0123");
    const text = `${Buffer.from("nothing to see here, move along").toString("base64")} ${"ab".repeat(40)}`;
    expect(mask(text)).toBe(text);
  });
});

describe("what a rule makes of a secret", () => {
  const value = "Kq7mZ2xW9pLr4TnB8vYc";
  const made = (text: unknown, how = "changed"): string => {
    const secrets = knowing("another-secret", value);
    secrets.derive(value, text, how);
    return secrets.mask(JSON.stringify({ code: text }));
  };

  it("has the label of the secret and of how it was made", () => {
    expect(made(value.slice(1), "without its first character")).toBe(
      '{"code":"‹access token 2, without its first character›"}',
    );
    expect(made(`${value.slice(0, 9)}"${value.slice(10)}`, 'put in "é" at 9')).toBe(
      '{"code":"Kq7mZ2xW9\\"‹access token 2, put in  at 9›"}',
    );
    expect(made(`é${value.slice(1)}`)).toBe('{"code":"é‹access token 2, changed›"}');
    expect(made(Array.from(value))).toBe('{"code":["‹access token 2, changed›}');
  });

  it("shows what was put around the secret", () => {
    expect(made(`x${value}0`)).toBe('{"code":"x‹access token 2›0"}');
    expect(made(` ${value}`)).toBe('{"code":" ‹access token 2›"}');
    expect(made([value, value])).toBe('{"code":["‹access token 2›","‹access token 2›"]}');
  });

  it("is masked wherever it is encoded", () => {
    const secrets = knowing(value);
    const one = secrets.derive(value, value.toUpperCase(), "in capitals");
    expect(secrets.mask(`?a=%22${one}%22`)).toBe("?a=%22‹access token 1, in capitals›%22");
    expect(secrets.mask(btoa(`12:${one}!`))).toMatch(/^‹encoded access token 1›=*$/);
    expect(secrets.find(one, ["access token"])).toBe(undefined);
    const percent = secrets.derive(value, `%4b${value.slice(1)}`, "first character percent-encoded");
    for (const text of [percent, encodeURIComponent(percent), percent.replace("%", "\\u0025")])
      expect(secrets.mask(text)).toMatch(/^[%25bu0\\4]+‹access token 1, first character percentencoded›$/);
  });

  it("is not masked if it gives less than half of the secret away, or was made of something else", () => {
    expect(made(value.slice(0, 9))).toBe(`{"code":"${value.slice(0, 9)}"}`);
    const secrets = knowing(value);
    secrets.derive("client-one", "client-two", "changed");
    expect(secrets.mask("client-two")).toBe("client-two");
  });

  it("is a secret of its own once the service issues it", () => {
    const secrets = knowing(value);
    secrets.conceal(secrets.derive(value, `${value}x`, "one character more"), "code");
    expect(secrets.mask(`${value}x ${value}`)).toBe("‹code 1› ‹access token 1›");
  });
});

describe("a masked text", () => {
  it("stays unchanged when it is masked again, even if a label contains a secret", () => {
    const secrets = createSecrets();
    for (const value of ["secret", "client", "token"]) secrets.conceal(value, "client secret");
    const once = secrets.mask("a secret, a client, a token");
    expect(once).toBe("a ‹client secret 1›, a ‹client secret 2›, a ‹client secret 3›");
    expect(secrets.mask(once)).toBe(once);
  });
});

describe("masking", () => {
  it("leaves other text unchanged", () => {
    const { mask } = knowing("secret-value");
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
        fc.pre(!text.includes("secret-value"));
        expect(mask(text)).toBe(text);
      }),
    );
  });

  it("ignores values of fewer than four characters", () => {
    const { mask } = knowing("", "a", "abc");
    expect(mask("a abc aaaa")).toBe("a abc aaaa");
  });

  it("ignores a token within a longer word, but not a client secret", () => {
    const secrets = knowing("token");
    secrets.conceal("hush", "client secret");
    expect(secrets.mask("tokens retoken token hushed")).toBe(
      "tokens retoken ‹access token 1› ‹client secret 1›ed",
    );
  });
});

describe("find", () => {
  it("distinguishes kinds of secrets, also in addresses", () => {
    const secrets = createSecrets();
    secrets.conceal("the-code-1", "code");
    secrets.conceal("ab/cd+ef==", "refresh token");
    expect(secrets.find("https://x/cb?code=the-code-1#y", ["code"])).toBe("‹code 1›");
    expect(secrets.find("code=the-code-1", ["refresh token"])).toBe(undefined);
    expect(secrets.find("t=ab%2Fcd%2Bef%3D%3D", ["code", "refresh token"])).toBe("‹refresh token 1›");
    expect(secrets.find("nothing", ["code"])).toBe(undefined);
  });
});

describe("the cost of masking", () => {
  /** How often masking one text asks a collection or searches text, with this many known values. */
  const steps = (known: number, make: (index: number) => string): number => {
    const { mask } = knowing(...Array.from({ length: known }, (_, index) => make(index)));
    const text = JSON.stringify({
      data: Array.from({ length: 20 }, (_, index) => make(index)),
      note: "x y z",
    });
    // Once before, so that what is remembered between texts is not counted.
    mask(text);
    const watched = [
      ...(["get", "has", "forEach", "values", "keys", "entries"] as const).map((name) =>
        vi.spyOn(Map.prototype, name),
      ),
      ...(["has", "forEach", "values"] as const).map((name) => vi.spyOn(Set.prototype, name)),
      ...(["includes", "indexOf", "startsWith", "slice", "replaceAll", "split"] as const).map((name) =>
        vi.spyOn(String.prototype, name as "slice"),
      ),
      vi.spyOn(RegExp.prototype, "exec"),
      vi.spyOn(RegExp.prototype, "test"),
    ];
    try {
      mask(text);
      return watched.reduce((sum, { mock }) => sum + mock.calls.length, 0);
    } finally {
      for (const one of watched) one.mockRestore();
    }
  };

  it.each([
    ["opaque", (index: number) => `opaque-${index}-abcdefghijklmnopqrstuvwxyz`],
    ["base64", (index: number) => `ab+${index}/cd==`],
    ["JWT-like", (index: number) => `eyJhbGciOiJIUzI1NiJ9.eyJ${index}.sig${index}`],
    ["with spaces", (index: number) => `a token ${index} with spaces`],
  ])("does not grow with the number of %s values", (_, make) => {
    const few = steps(50, make);
    expect(few).toBeGreaterThan(20);
    // Twenty times as many values: a search for each would take many more steps.
    expect(steps(1_000, make)).toBe(few);
  });
});
