import { sfc32, uuidOf } from "../conformance/contract/random.ts";

const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The service's source of randomness. The same seed gives the same values in the same order. */
export type RandomSource = ReturnType<typeof randomFrom>;

/** A seeded source. It is not cryptographic: a fake does not need that, and a replay could not use it. */
export const randomFrom = (seed: number) => {
  // The first rounds mix the seed in.
  const uint32 = sfc32([0x9e3779b9, seed | 0, Math.trunc(seed / 0x1_0000_0000) | 0, 1], 15);
  return {
    uint32,
    /** `bytes` bytes in base64url: A-Z a-z 0-9 - _, which need no escaping anywhere. */
    token: (bytes: number): string => tokenFrom(uint32, bytes),
    /** `bytes` bytes as lower-case hexadecimal digits. */
    hex: (bytes: number): string => hexFrom(uint32, bytes),
    /** A version 4 UUID in lower case (RFC 9562 section 5.4). */
    uuid: (): string => uuidOf(hexFrom(uint32, 16), 4),
  };
};

/** Reused for every token: encoding a buffer gives one flat string, which saves memory in long loads. */
const scratch = Buffer.alloc(256);

const tokenFrom = (uint32: () => number, bytes: number): string => {
  for (let at = 0; at < bytes; at += 4) scratch.writeUInt32LE(uint32(), at);
  return scratch.toString("base64url", 0, bytes);
};

const hexFrom = (uint32: () => number, bytes: number): string => {
  let digits = "";
  let draw = 0;
  for (let index = 0; index < bytes; index += 1) {
    draw = index % 4 === 0 ? uint32() : draw >>> 8;
    digits += HEX_BYTES[draw & 255];
  }
  return digits;
};
