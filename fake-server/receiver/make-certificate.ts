import { isIP } from "node:net";
import { DAY_MS } from "../../conformance/contract/duration.ts";

/** A certificate (with its chain) and its private key, both PEM. */
export interface Certificate {
  readonly certPem: string;
  readonly keyPem: string;
}

/** The longest validity that the strictest platforms accept. */
const LEAF_DAYS = 397;
const CA_DAYS = 3_650;

const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" } as const;

/** The library takes 250 ms to load, so it is only loaded to create something. */
const library = async () => {
  // It finds its parts through reflection, which must be loaded first.
  await import("reflect-metadata");
  return import("@peculiar/x509");
};

const newKeys = () => crypto.subtle.generateKey(keyAlgorithm, true, ["sign", "verify"]);

const privatePem = async ({ privateKey }: Awaited<ReturnType<typeof newKeys>>): Promise<string> => {
  const { PemConverter } = await library();
  return `${PemConverter.encode(await crypto.subtle.exportKey("pkcs8", privateKey), "PRIVATE KEY").trim()}\n`;
};

const signingKeyOf = async (pem: string) => {
  const { PemConverter } = await library();
  return crypto.subtle.importKey("pkcs8", PemConverter.decodeFirst(pem), keyAlgorithm, false, ["sign"]);
};

/** A self-signed authority, valid from yesterday for ten years. */
export const makeCa = async (nowMs: number, name = "Touchstone receiver authority"): Promise<Certificate> => {
  const x509 = await library();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    notBefore: new Date(nowMs - DAY_MS),
    notAfter: new Date(nowMs + CA_DAYS * DAY_MS),
    signingAlgorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certPem: `${certificate.toString("pem").trim()}\n`, keyPem: await privatePem(keys) };
};

/**
 * A server's certificate for these names and addresses. It has both key identifiers (RFC 5280, sections 4.2.1.1 and
 * 4.2.1.2): strict verifiers, such as Python's by default, refuse certificates without them.
 */
export const makeLeaf = async (
  ca: Certificate,
  hosts: readonly string[],
  [fromMs, toMs]: readonly [number, number],
): Promise<Certificate> => {
  const x509 = await library();
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(ca.certPem);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: ["Touchstone receiver server"] }],
    issuer: issuer.subjectName,
    notBefore: new Date(fromMs),
    notAfter: new Date(toMs),
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(ca.keyPem),
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        hosts.map((value) => ({ type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const), value })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certPem: `${certificate.toString("pem").trim()}\n`, keyPem: await privatePem(keys) };
};

/** One that is valid now, and since yesterday for clocks that are behind. */
export const currentLeaf = (ca: Certificate, hosts: readonly string[], nowMs: number): Promise<Certificate> =>
  makeLeaf(ca, hosts, [nowMs - DAY_MS, nowMs + LEAF_DAYS * DAY_MS - 2 * DAY_MS]);
