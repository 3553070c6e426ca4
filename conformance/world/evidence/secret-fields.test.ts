import { describe, expect, it } from "vitest";
import { newScope, createJournal, type ExchangeRecord } from "./journal.ts";
import { createSecrets } from "../../contract/secrets.ts";

const secret = "sAci3a2ukquPJT8XxtNR-ohjhGIP_hzp";

/** The text of a request body as kept in the journal. */
const kept = (body: string): string | undefined => {
  const secrets = createSecrets();
  secrets.conceal(secret, "client secret");
  const records: ExchangeRecord[] = [];
  const request = { method: "POST", path: "/", headers: [], body };
  createJournal(secrets, { write: (record) => void records.push(record) }).add(newScope("test"), {
    n: 1,
    startedMs: 0,
    durationMs: 0,
    request,
  });
  return records[0]?.request.body;
};

const nearlyRight: Readonly<Record<string, unknown>> = {
  "with a character more": `${secret}x`,
  "behind other characters": `abc${secret}`,
  "without its last character": secret.slice(0, -1),
  "in other case": secret.toUpperCase(),
  backwards: Array.from(secret).toReversed().join(""),
  "as a list of its characters": Array.from(secret),
  "in an object": { value: `${secret}1` },
};

const letters = (one: string): string => one.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

/** Whether a good part of the secret can be read in the text, forwards or backwards, whatever is in between. */
const reveals = (text: string): boolean => {
  const sought = [letters(secret), Array.from(letters(secret)).toReversed().join("")];
  return sought.some((one) => [0, 8, 16].some((from) => letters(text).includes(one.slice(from, from + 8))));
};

describe("client secrets in the journal", () => {
  it("are replaced by a label if they are the whole value", () => {
    expect(kept(JSON.stringify({ clientId: "one", clientSecret: secret, code: "c" }))).toBe(
      '{"clientId":"one","clientSecret":"‹client secret 1›","code":"c"}',
    );
    expect(kept(JSON.stringify({ clientSecret: [secret] }))).toBe('{"clientSecret":["‹client secret 1›"]}');
  });

  it.each(Object.entries(nearlyRight))("are hidden if they are sent %s", (_name, clientSecret) => {
    const text = kept(JSON.stringify({ clientId: "one", clientSecret, code: "c" })) ?? "";
    expect({ isRevealed: reveals(text), isJson: typeof JSON.parse(text) === "object" }).toEqual({
      isRevealed: false,
      isJson: true,
    });
  });

  it("are hidden in a truncated body", () => {
    expect(reveals(kept(`{"clientSecret":"${secret.slice(0, -3)}`) ?? secret)).toBe(false);
  });

  it("are replaced by a label within longer words of any other text", () => {
    expect(kept(`note=${secret}x`)).toBe("note=‹client secret 1›x");
  });

  it("are not masked in values that reveal nothing", () => {
    for (const body of [
      '{"clientSecret":""}',
      '{"clientSecret":null}',
      '{"clientSecret":true}',
      '{"clientSecret":"ab"}',
    ])
      expect(kept(body)).toBe(body);
  });
});
