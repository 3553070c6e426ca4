import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";

/** The key does not open this ledger. */
export class WrongKey extends Error {
  constructor() {
    super("the key does not open this ledger; accepted is the key that it was made with");
    this.name = "WrongKey";
  }
}

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SALT_BYTES = 16;

/** Scrypt parameters of OWASP's password storage sheet: N = 2^17, r = 8, p = 1. */
export const keyCost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

export const newSalt = (): Uint8Array => randomBytes(SALT_BYTES);

/** Encrypts and decrypts the secrets of one ledger, each bound to its place: moved elsewhere, it does not open. */
export type Vault = ReturnType<typeof openVault>;

/**
 * A vault with a key derived from a passphrase by scrypt (RFC 7914). Encrypts with AES-256-GCM (NIST SP 800-38D) and a
 * fresh nonce each time.
 */
export const openVault = (passphrase: string, salt: Uint8Array, cost = keyCost) => {
  const key = scryptSync(passphrase, salt, KEY_BYTES, cost);
  return {
    lock: (secret: string, place: string): Uint8Array => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]);
    },
    /** Throws WrongKey if the key, the place or the bytes differ from those of `lock`. */
    open: (locked: Uint8Array, place: string): string => {
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, locked.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(place))
          .setAuthTag(locked.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = decipher.update(locked.subarray(NONCE_BYTES + TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch {
        throw new WrongKey();
      }
    },
  };
};
