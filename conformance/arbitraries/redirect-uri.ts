import { encodedThroughout } from "./state.ts";

/** Ways to percent-encode an address that all decode to the same one (RFC 3986 section 6.2.2). */
export const encodings = {
  "as usual": (address: string) => encodeURIComponent(address),
  "with small hexadecimal digits": (address: string) =>
    encodeURIComponent(address).replaceAll(/%../g, (triplet) => triplet.toLowerCase()),
  "in every byte": encodedThroughout,
} as const satisfies Record<string, (address: string) => string>;
export type Encoding = keyof typeof encodings;

export const withQuery = (address: string, query: string): string =>
  `${address}${address.includes("?") ? "&" : "?"}${query}`;

/**
 * Harmless queries, which a service that accepts any query has no reason to refuse. Parsers that decode before they
 * split find a client in the last one.
 */
export const plainQueries = [
  "q=1&r=2",
  "q=a=b&r=c==",
  "q=&r=&s",
  "q=caf%C3%A9",
  "q=a%20b&r=c%2Bd",
  "clientId=nobody",
] as const;

/**
 * Queries of a callback address that contain every reserved character of RFC 3986 as data. What is percent-encoded in
 * them is so in the address itself, and is encoded twice in the request. A cautious service may take some of them for
 * an attack.
 */
export const tellingQueries = [
  "q=1&amp=2&lt=3",
  "next=%2Fhome%3Fa%3D1%26b%3D2%23top",
  "q=100%25&r=%2541%2B%252B",
  "q=what?/really:@me!$'()*,;",
  "q=%20a%20&r=b%2Bc",
  "q=caf%C3%A9&r=%E4%B8%AD",
  "redirectUri=https%3A%2F%2Felsewhere.example",
  "q=2&q=1",
  // Longer than many a column of a database.
  `q=${"0123456789".repeat(30)}`,
] as const;

export const lookAlikes = (
  registered: string,
): readonly { readonly name: string; readonly address: string }[] => {
  const url = new URL(registered);
  const { protocol, host, hostname, pathname, search } = url;
  const rest = `${pathname}${search}`;
  const others = {
    "another host": `${protocol}//elsewhere.example${rest}`,
    "the registered host as a label of another": `${protocol}//${hostname}.elsewhere.example${rest}`,
    "another host that ends like it": `${protocol}//not${host}${rest}`,
    "the registered host as a user name": `${protocol}//${hostname}@elsewhere.example${rest}`,
    "the registered address in a query": `${protocol}//elsewhere.example/?${registered}`,
    "the registered address in a fragment": `${protocol}//elsewhere.example/#${registered}`,
    "a backslash before the registered host": `${protocol}//elsewhere.example\\@${host}${rest}`,
    "a subdomain": `${protocol}//sub.${host}${rest}`,
    "another port": `${protocol}//${hostname}:4443${rest}`,
    "another scheme": `${protocol === "https:" ? "http:" : "https:"}//${host}${rest}`,
    "a longer path": `${protocol}//${host}${pathname}/more`,
    "a path that begins like it": `${protocol}//${host}${pathname}more`,
    "a path that climbs out": `${protocol}//${host}${pathname}/../elsewhere`,
    "a path that climbs out, encoded": `${protocol}//${host}${pathname}/%2e%2e/elsewhere`,
    "the root": `${protocol}//${host}/`,
    "no scheme": `//elsewhere.example${rest}`,
    "a script": "javascript:alert(1)//" + registered,
  };
  return Object.entries(others).map(([name, address]) => ({ name, address }));
};
