import { createHash, timingSafeEqual } from "node:crypto";
import { BlockList, isIP } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

export const isLoopback = (host: string): boolean =>
  host === "localhost" || (isIP(host) !== 0 && loopback.check(host, isIP(host) === 6 ? "ipv6" : "ipv4"));

export interface Caller {
  readonly authorization: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/**
 * Who may use the control interface: whoever has the token; and, where it can be reached from this machine only,
 * whoever is on it. A page of some other site that a browser here has open is not: its requests name another
 * origin, or (where its name was made to point here) another host.
 */
export const createAccess = (boundTo: string, token: string): ((caller: Caller) => boolean) => {
  const expected = digest(`Bearer ${token}`);
  const open = isLoopback(boundTo);
  return ({ authorization, host, origin }) => {
    if (authorization !== undefined) return timingSafeEqual(digest(authorization), expected);
    return open && isLoopback(nameOf(host)) && (origin === undefined || origin === `http://${host}`);
  };
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The name in a Host header, without port and brackets. */
const nameOf = (host = ""): string => host.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
