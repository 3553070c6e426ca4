/** The decoded parameters of a query. A repeated name keeps its first value and is listed. */
export interface Query {
  /** As in the request, without the question mark. */
  readonly raw: string;
  readonly values: ReadonlyMap<string, string>;
  readonly repeated: readonly string[];
}

const NO_PARAMETERS: Query = { raw: "", values: new Map(), repeated: [] };

/** The part of a request target after the question mark; empty without one. */
export const rawQueryOf = (target: string): string => {
  const mark = target.indexOf("?");
  return mark < 0 ? "" : target.slice(mark + 1);
};

/**
 * Decodes a query strictly: undefined if any percent-encoding is truncated, not hexadecimal, or not well-formed UTF-8
 * (including overlong forms and lone surrogates). A plus sign means a space, as in forms.
 */
export const parseQuery = (raw: string): Query | undefined => {
  if (raw === "") return NO_PARAMETERS;
  const values = new Map<string, string>();
  const repeated: string[] = [];
  try {
    for (const part of raw.split("&")) {
      const equals = part.indexOf("=");
      const name = decoded(equals < 0 ? part : part.slice(0, equals));
      if (values.has(name)) repeated.push(name);
      else values.set(name, equals < 0 ? "" : decoded(part.slice(equals + 1)));
    }
    return { raw, values, repeated };
  } catch {
    return undefined;
  }
};

/** The first value of a parameter, before decoding. */
export const rawValueOf = (query: Query, name: string): string | undefined => {
  const part = query.raw.split("&").find((candidate) => candidate.startsWith(`${name}=`));
  return part?.slice(name.length + 1);
};

const ENCODED = /[%+]/;
const decoded = (text: string): string =>
  ENCODED.test(text) ? decodeURIComponent(text.replaceAll("+", " ")) : text;
