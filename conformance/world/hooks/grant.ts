import type { HookDefinition } from "../../contract/profile-fetched.ts";
import { shorten } from "../../contract/text.ts";
import type { Answer } from "../exchange.ts";
import { HookError, resultOf, type HookAnswer } from "./hooks.ts";
import type { Journal, Scope } from "../evidence/journal.ts";
import type { AuthorizeAsked } from "../target.ts";

const usualPlaces = ["/code", "/url", "/location", "/data/code"];

/**
 * What an answer of authorize would be, with the code that the profile's hook got by going through consent. The hook
 * returns the bare code, JSON with `code`, or the address that the service redirected to. Throws HookError if there is
 * no code.
 */
export const grantByHook = async (
  { result }: HookDefinition,
  asked: AuthorizeAsked,
  run: () => Promise<HookAnswer>,
  { journal, scope }: { readonly journal: Journal; readonly scope: Scope },
): Promise<{ readonly code: string; readonly answer: Answer }> => {
  const exchange = journal.begin(scope);
  const told = await run();
  const json = codeIn(resultOf(told, result, usualPlaces), asked);
  if (json === undefined)
    throw new HookError(
      "authorize.code",
      `no code in its answer, which has ${told.text.length} characters; accepted are JSON with "code", or the address that the service redirects to (or name the place with "result", a JSON pointer)`,
    );
  const answer = { status: 200, headers: [], text: JSON.stringify(json), json };
  const path = shorten(`authorize.code state=${asked.state}`, 200);
  exchange.end({ method: "HOOK", path, headers: [] }, { answer });
  return { code: json.code, answer: { exchange: exchange.n, ...answer } };
};

/** The code and state in a hook's value; a bare code gets the requested state. */
const codeIn = (
  value: unknown,
  asked: AuthorizeAsked,
): { readonly code: string; readonly state: string } | undefined => {
  if (typeof value !== "string" || value === "") return undefined;
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return { code: value, state: asked.state };
  if (!URL.canParse(value)) return undefined;
  const { searchParams, hash } = new URL(value);
  const fragment = new URLSearchParams(hash.slice(1));
  const code = searchParams.get("code") ?? fragment.get("code");
  const state = searchParams.get("state") ?? fragment.get("state") ?? asked.state;
  return code === null || code === "" ? undefined : { code, state };
};
