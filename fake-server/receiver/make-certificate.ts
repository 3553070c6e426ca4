import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { isIP } from "node:net";
import { DAY_MS } from "../../conformance/contract/duration.ts";
import {
  addressBytes,
  bits,
  identifier,
  integer,
  numbered,
  numberedSimply,
  octets,
  printable,
  sequence,
  setOf,
  time,
  yes,
} from "./der.ts";

/** A certificate (with its chain) and its private key, both PEM. */
export interface Certificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The longest validity that the strictest platforms accept. */
const LEAF_DAYS = 397;
const CA_DAYS = 3_650;

const newKeys = () => generateKeyPairSync("ec", { namedCurve: "P-256" });

const ecdsaWithSha256 = sequence(identifier("1.2.840.10045.4.3.2"));

/** What a certificate says (RFC 5280, section 4.1). */
interface Said {
  readonly subject: string;
  readonly issuer: string;
  readonly validMs: readonly [from: number, to: number];
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

const signedPem = ({ subject, issuer, validMs, publicKey, extensions }: Said, key: KeyObject): string => {
  const version3 = numbered(0, integer(Buffer.from([2])));
  // A first byte from 64 to 127 keeps the number positive, and its length.
  const [first = 0, ...others] = randomBytes(16);
  const toBeSigned = sequence(
    version3,
    integer(Buffer.from([0x40 | (first & 0x3f), ...others])),
    ecdsaWithSha256,
    named(issuer),
    sequence(...validMs.map(time)),
    named(subject),
    publicKey.export({ type: "spki", format: "der" }),
    numbered(3, sequence(...extensions)),
  );
  const signed = sequence(toBeSigned, ecdsaWithSha256, bits(sign("sha256", toBeSigned, key)));
  const lines = signed.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
};

const named = (commonName: string): Buffer =>
  sequence(setOf(sequence(identifier("2.5.4.3"), printable(commonName))));

const extension = (id: string, value: Buffer): Buffer => sequence(identifier(id), octets(value));
const critical = (id: string, value: Buffer): Buffer => sequence(identifier(id), yes, octets(value));

/** The hash of the key alone, as in RFC 5280, section 4.2.1.2 (1): a point of the curve, the last 65 bytes. */
const identifierOf = (publicKey: KeyObject): Buffer =>
  createHash("sha1")
    .update(publicKey.export({ type: "spki", format: "der" }).subarray(-65))
    .digest();

const subjectKey = (publicKey: KeyObject): Buffer => extension("2.5.29.14", octets(identifierOf(publicKey)));

const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

/** A self-signed authority, valid from yesterday for ten years. */
export const makeCa = (nowMs: number, name = "Touchstone receiver authority"): Certificate => {
  const { publicKey, privateKey } = newKeys();
  const certSignAndCrlSign = bits(Buffer.from([0b110]), 1);
  const said: Said = {
    subject: name,
    issuer: name,
    validMs: [nowMs - DAY_MS, nowMs + CA_DAYS * DAY_MS],
    publicKey,
    extensions: [
      critical("2.5.29.19", sequence(yes)),
      critical("2.5.29.15", certSignAndCrlSign),
      subjectKey(publicKey),
    ],
  };
  return { certPem: signedPem(said, privateKey), keyPem: pemOf(privateKey) };
};

/**
 * A server's certificate for these names and addresses. It has both key identifiers (RFC 5280, sections 4.2.1.1 and
 * 4.2.1.2): strict verifiers, such as Python's by default, refuse certificates without them.
 */
export const makeLeaf = (
  ca: Certificate,
  hosts: readonly string[],
  validMs: readonly [from: number, to: number],
): Certificate => {
  const { publicKey, privateKey } = newKeys();
  const issuer = new X509Certificate(ca.certPem);
  const digitalSignature = bits(Buffer.from([0x80]), 7);
  const serverAuth = identifier("1.3.6.1.5.5.7.3.1");
  const said: Said = {
    subject: "Touchstone receiver server",
    issuer: issuer.subject.replace(/^CN=/, ""),
    validMs,
    publicKey,
    extensions: [
      extension("2.5.29.19", sequence()),
      critical("2.5.29.15", digitalSignature),
      extension("2.5.29.37", sequence(serverAuth)),
      extension("2.5.29.17", sequence(...hosts.map(alternativeName))),
      subjectKey(publicKey),
      extension("2.5.29.35", sequence(numberedSimply(0, identifierOf(issuer.publicKey)))),
    ],
  };
  return { certPem: signedPem(said, createPrivateKey(ca.keyPem)), keyPem: pemOf(privateKey) };
};

const alternativeName = (host: string): Buffer =>
  isIP(host) === 0 ? numberedSimply(2, Buffer.from(host)) : numberedSimply(7, addressBytes(host));

/** One that is valid now, and since yesterday for clocks that are behind. */
export const currentLeaf = (ca: Certificate, hosts: readonly string[], nowMs: number): Certificate =>
  makeLeaf(ca, hosts, [nowMs - DAY_MS, nowMs + LEAF_DAYS * DAY_MS - 2 * DAY_MS]);
