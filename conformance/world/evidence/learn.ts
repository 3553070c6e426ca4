import type { PushLine } from "../../contract/push.ts";
import type { SecretKind, Secrets } from "../../contract/secrets.ts";
import { isTokenField } from "../../contract/forms.ts";
import { grantOf, type Answer } from "../exchange.ts";

/** Masks a line of the receiver's journal, since what it quotes of a request may contain secrets. */
export const maskedLine = (line: PushLine, mask: Secrets["mask"]): PushLine => {
  if (line.kind === "fault") return { ...line, message: mask(line.message) };
  if (line.kind !== "push") return line;
  const headers = line.headers.map(([name, value]) => [name, mask(value)] as const);
  return { ...line, path: mask(line.path), headers, body: mask(line.body) };
};

/** Remembers the credentials in an answer, so that they are masked wherever they appear. */
export const learn = (secrets: Secrets, answer: Pick<Answer, "headers" | "json" | "text">): void => {
  for (const [name, value] of answer.headers)
    if (name === "set-cookie") secrets.conceal(/^[^=;]*=([^;]*)/.exec(value)?.[1] ?? "", "cookie");
  if (typeof answer.json === "object" && answer.json !== null) {
    const fields = answer.json as Readonly<Record<string, unknown>>;
    const { code, state, accessToken } = fields;
    if (typeof code === "string" && (typeof state === "string" || !namesAnError(code)))
      secrets.conceal(code, "code");
    for (const name of Object.keys(fields)) {
      const value = fields[name];
      if (typeof value === "string" && name !== "code" && name !== "state")
        concealToken(secrets, name, value, typeof accessToken === "string");
    }
  }
  if (mayQuote.test(answer.text) && !isFlat(answer)) learnQuoted(secrets, textOf(answer.json));
  const location = answer.headers.find(([name]) => name === "location");
  if (location === undefined) return;
  const grant = grantOf({ exchange: 0, status: 302, headers: [location], text: "", json: undefined });
  if (grant !== undefined) secrets.conceal(grant.code, "code");
};

const learnQuoted = (secrets: Secrets, text: string): void => {
  const isGrant = quotedState.test(text);
  for (const [, name = "", value = ""] of text.matchAll(quotedCredential))
    if (name.toLowerCase() !== "code") concealToken(secrets, name, value, false);
    else if (isGrant || !namesAnError(value)) secrets.conceal(value, "code");
};

const concealToken = (secrets: Secrets, name: string, value: string, isBesideToken: boolean): void => {
  const kind = kinds.get(name);
  if (kind !== undefined || isTokenField(name, value, isBesideToken))
    secrets.conceal(value, kind ?? "credential");
};

/** The document's fields that hold a token. */
const kinds: ReadonlyMap<string, SecretKind> = new Map([
  ["accessToken", "access token"],
  ["refreshToken", "refresh token"],
]);

/** Without any of these an answer holds no such credential: unless something is escaped, names appear literally. */
const mayQuote = /code"|token"|\\/i;
/** A credential deeper in an answer, or quoted from another one, however often it was escaped. */
const quotedCredential = /\\*"(code|[\w-]{0,32}token)\\*"\s*:\s*\\*"([^"\\]{8,8192})\\*"/gi;
/** Appears next to a code, but not next to the name of an error. */
const quotedState = /\\*"state\\*"\s*:/;
const QUOTED_CHARACTERS = 65_536;

/** Whether an answer has fields only at its top, and in none of them a quotation mark, so that all it holds is seen there. */
const isFlat = ({ json, text }: Pick<Answer, "json" | "text">): boolean =>
  !text.includes("\\") &&
  typeof json === "object" &&
  json !== null &&
  Object.values(json).every((value) => typeof value !== "object");

/** The answer as text, if small enough to be searched every time. */
const textOf = (json: unknown): string => {
  if (typeof json !== "object" || json === null) return "";
  try {
    return JSON.stringify(json).slice(0, QUOTED_CHARACTERS);
  } catch {
    // Too deep to stringify, so not a credential.
    return "";
  }
};

/** Many services put the name or number of an error under `code`; masked, it would read differently in every run. */
const namesAnError = (code: string): boolean =>
  code.length < 16 || (/^[A-Za-z]+([_.: -][A-Za-z0-9]+)*$/.test(code) && !looksDrawn(code));

/** Digits, lower-case and upper-case letters in one long word; no error name looks like that. */
const looksDrawn = (code: string): boolean =>
  code.length >= 24 && [/\d/, /[a-z]/, /[A-Z]/].every((kind) => kind.test(code));
