import fc from "fast-check";
import { anyCharacter } from "../testing/any-character.ts";
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
    ["<p>ab&#x2B;cd&#x3d;&#61;</p>", "ab+cd=="],
    ["<p>&#252;&#x1f989;abcd</p>", "ü🦉abcd"],
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
    ["hexadecimal digits", (text) => Buffer.from(text).toString("hex")],
    ["capital hexadecimal digits", (text) => Buffer.from(text).toString("hex").toUpperCase()],
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

  it("is masked if it was altered or extended before it was encoded", () => {
    const value = "AyUR9m3nEWUJKPcQomFMdfaBKCRAvF2S673uRVkRA4x";
    const { mask } = knowing(value);
    for (const [, encode] of encodings)
      for (const sent of [`${value.slice(0, -1)}%`, `${value.slice(0, -2)}!`, `${value}w0`])
        expect(mask(encode(`12${sent}!`))).toMatch(/^‹encoded access token 1›=*$/);
    for (const sent of [`${value}x`, `${value.slice(0, -1)}y`]) {
      const twice = encodeURIComponent(encodeURIComponent(`"${sent}"`));
      expect(mask(twice)).not.toContain(value.slice(0, 20));
      expect(mask(encodeURIComponent(twice))).not.toContain(value.slice(0, 20));
    }
  });

  it("is masked in HTML, in JSON within JSON, and with every byte escaped", () => {
    const value = `a"b<c>&'d/e-0123`;
    const { mask } = knowing(value);
    for (const text of [
      "a&quot;b&lt;c&gt;&amp;&#39;d/e-0123",
      JSON.stringify(JSON.stringify(value)).slice(3, -3),
    ])
      expect(mask(text)).toBe("‹access token 1›");
    const secrets = createSecrets();
    secrets.conceal("hush-0123456789", "client secret");
    const bytes = [...Buffer.from("hush-0123456789")].map((byte) => byte.toString(16).padStart(2, "0"));
    expect(secrets.mask(bytes.map((byte) => `%${byte}`).join(""))).toBe("‹client secret 1›");
    expect(secrets.mask(bytes.map((byte) => `\\u00${byte}`).join(""))).toBe("‹client secret 1›");
  });

  it("does not affect other encoded text", () => {
    const { mask } = knowing("secret-value-0123");
    const text = `${Buffer.from("nothing to see here, move along").toString("base64")} ${"ab".repeat(40)}`;
    expect(mask(text)).toBe(text);
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

  it("masks a client secret that contains replacement patterns", () => {
    const secrets = createSecrets();
    secrets.conceal("$&$1$`x", "client secret");
    expect(secrets.mask("a$&$1$`xb")).toBe("a‹client secret 1›b");
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
