import { createHash, timingSafeEqual } from "node:crypto";
import { isLoopback } from "../../conformance/contract/loopback.ts";

export interface Caller {
  readonly authorization: string | undefined;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/**
 * Decides who may use the control interface: any caller with the token, or without a token any caller on this machine
 * if the interface is bound to loopback. Pages of other sites in a local browser are refused: their requests name
 * another origin or, after DNS rebinding, another host.
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
