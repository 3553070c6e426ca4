import { describe, isSuccess, isText, saysWrong, type Exchange } from "../exchange.ts";
import { broke, held, look, type Look } from "../looks.ts";

/** A code, wherever the answer carries it. */
export interface Grant {
  readonly code: string;
  readonly state: unknown;
}

/** The grant in an authorize answer: in a JSON body, or in query or fragment of a redirect's Location (section 4.1). */
export const grantOf = (exchange: Exchange): Grant | undefined => {
  if (exchange.location !== undefined && exchange.status >= 300 && exchange.status < 400) {
    const parameters = parametersOf(exchange.location);
    const code = parameters.get("code");
    if (isText(code)) return { code, state: parameters.get("state") };
  }
  const { code, state } = exchange.fields;
  return isText(code) && exchange.status < 400 ? { code, state } : undefined;
};

/** Query and fragment parameters of an address. k6 knows no URL. */
const parametersOf = (address: string): ReadonlyMap<string, string> => {
  const [, query = ""] = /^[^?#]*[?#](.*)$/s.exec(address) ?? [];
  const pairs = query.split(/[&#]/).map((pair): [string, string] => {
    const at = pair.indexOf("=");
    return at < 0 ? [decoded(pair), ""] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))];
  });
  return new Map(pairs);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
};

/**
 * What a right authorize request shows. `others` are the states of requests that were under way
 * at the same time: an answer that carries one of them belongs to another request.
 */
export const judgeAuthorization = (
  exchange: Exchange,
  state: string,
  others: readonly string[] = [],
): readonly Look[] => {
  const grant = grantOf(exchange);
  const expected = "a valid authorize request is answered with a code, the state and a numeric timestamp";
  if (grant === undefined) {
    const meansTo = isSuccess(exchange) && exchange.fields["state"] === state;
    return meansTo || saysWrong(exchange)
      ? [broke("authorize.answers-with-code", expected, describe(exchange))]
      : [];
  }
  return [
    look(
      "authorize.answers-with-code",
      !isSuccess(exchange) || typeof exchange.fields["timestamp"] === "number",
      expected,
      () => describe(exchange),
    ),
    grant.state === state
      ? held("authorize.echoes-state")
      : broke(
          "authorize.echoes-state",
          `the answer carries exactly the state that was sent, ${state}`,
          others.includes(String(grant.state))
            ? `it carries ${String(grant.state)}, which another request had sent at the same time`
            : `it carries ${JSON.stringify(grant.state) ?? "none"}`,
        ),
  ];
};
