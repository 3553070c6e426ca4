import { isIPv4 } from "node:net";

/* The few forms of distinguished encoding (ITU-T X.690) that a certificate needs. */

const tagged = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
};

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(0x30, ...parts);
export const setOf = (...parts: readonly Uint8Array[]): Buffer => tagged(0x31, ...parts);
export const octets = (bytes: Uint8Array): Buffer => tagged(0x04, bytes);
export const printable = (text: string): Buffer => tagged(0x13, Buffer.from(text, "latin1"));
export const yes = tagged(0x01, Buffer.from([0xff]));
/** An integer from its bytes, of which the first must be from 1 to 127. */
export const integer = (bytes: Uint8Array): Buffer => tagged(0x02, bytes);
/** A bit string, of which the last `unused` bits do not count. */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => tagged(0x03, Buffer.from([unused]), bytes);
/** A part that is told by its number: built from others, or simple. */
export const numbered = (n: number, part: Uint8Array): Buffer => tagged(0xa0 + n, part);
export const numberedSimply = (n: number, bytes: Uint8Array): Buffer => tagged(0x80 + n, bytes);

/** An object identifier such as "2.5.29.14". */
export const identifier = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return tagged(0x06, Buffer.from([40 * first + second, ...others.flatMap(inSevens)]));
};

/** Seven bits to a byte, highest first; all but the last have the eighth bit set. */
const inSevens = (value: number): readonly number[] => [
  ...(value < 0x80 ? [] : inSevens(value >> 7).map((byte) => byte | 0x80)),
  value & 0x7f,
];

/** Two digits stand for a year before 2050 (RFC 5280, section 4.1.2.5). */
export const time = (ms: number): Buffer => {
  const digits = new Date(ms).toISOString().replaceAll(/\.\d+|[-:T]/g, "");
  return digits < "2050" ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits));
};

/** The 4 or 16 bytes of an IP address. */
export const addressBytes = (address: string): Buffer => {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const { hostname } = new URL(`http://[${address.replace(/%.*/, "")}]`);
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":")));
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, "0")).join(""), "hex");
};
