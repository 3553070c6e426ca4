import { createPrivateKey, KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import path from "node:path";
import { makeFolders } from "../../conformance/files/run-directory.ts";
import { DAY_MS } from "../../conformance/contract/duration.ts";
import { replaceFile } from "../../conformance/files/write.ts";
import { readPrivate, WideFile } from "../../conformance/files/private.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { codeOf, reasonOf } from "../../conformance/contract/files.ts";

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

const pairOf = (certificate: { toString(format: "pem"): string }, privateKey: CryptoKey): Certificate => ({
  certPem: `${certificate.toString("pem").trim()}\n`,
  keyPem: KeyObject.from(privateKey).export({ type: "pkcs8", format: "pem" }).toString(),
});

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
  return pairOf(certificate, keys.privateKey);
};

/**
 * A server's certificate for these names and addresses. It has both key identifiers (RFC 5280, sections 4.2.1.1 and
 * 4.2.1.2): strict verifiers, such as Python's by default, refuse certificates without them.
 */
const makeLeaf = async (
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
    signingKey: createPrivateKey(ca.keyPem).toCryptoKey(keyAlgorithm, false, ["sign"]) as CryptoKey,
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
  return pairOf(certificate, keys.privateKey);
};

/** One that is valid now, and since yesterday for clocks that are behind. */
export const currentLeaf = (ca: Certificate, hosts: readonly string[], nowMs: number): Promise<Certificate> =>
  makeLeaf(ca, hosts, [nowMs - DAY_MS, nowMs + LEAF_DAYS * DAY_MS - 2 * DAY_MS]);

export const certificateKinds = ["own", "untrusted", "wrong-host", "expired"] as const;
export type CertificateKind = (typeof certificateKinds)[number];

/** The receiver's certificate, and alternatives for testing a sender's verification. */
export interface Certificates {
  readonly own: Certificate;
  /** PEM of the authority to trust; undefined if the user's own certificate names none. */
  readonly caPem: string | undefined;
  readonly caFile: string | undefined;
  /** An alternative certificate, created on first use. */
  readonly of: (kind: CertificateKind) => Promise<Certificate>;
}

const RENEW_BEFORE_MS = 14 * DAY_MS;

/** Whether a certificate is valid for these hosts, already now and for a while. */
const serves = (certificate: X509Certificate, hosts: readonly string[], nowMs: number): boolean =>
  Date.parse(certificate.validFrom) <= nowMs &&
  Date.parse(certificate.validTo) - nowMs > RENEW_BEFORE_MS &&
  hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined);

/** Checks a user's certificate against its key. Throws ConfigurationError saying which is wrong. */
const checkCertificate = ({ certPem, keyPem }: Certificate): X509Certificate => {
  const certificate = parsed("certificate", () => new X509Certificate(certPem));
  const key = parsed("key", () => createPrivateKey(keyPem));
  if (!certificate.checkPrivateKey(key))
    throw new ConfigurationError(
      `key: it does not belong to the certificate "${certificate.subject}"; accepted is the private key that the certificate was made for`,
    );
  return certificate;
};

const parsed = <T>(what: string, parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    throw new ConfigurationError(`${what}: it cannot be read (${reasonOf(error)}); accepted is PEM`, {
      cause: error,
    });
  }
};

type Names = readonly [certificate: string, key: string];
const authorityFiles: Names = ["ca.pem", "ca-key.pem"];
const serverFiles: Names = ["server.pem", "server-key.pem"];

const readPair = async (
  folder: string,
  [cert, key]: Names,
): Promise<(Certificate & { readonly x509: X509Certificate }) | undefined> => {
  try {
    const certPem = await readFile(path.join(folder, cert), "utf8");
    const keyPem = await readPrivate(path.join(folder, key), "the key");
    return { certPem, keyPem, x509: checkCertificate({ certPem, keyPem }) };
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    // A key that others may have read cannot simply be replaced: senders trust what it signed.
    if (error instanceof WideFile) throw error;
    throw new ConfigurationError(
      `${folder}: ${cert} or ${key} cannot be used (${reasonOf(error)}); remove both to have new ones created`,
      { cause: error },
    );
  }
};

/** Writes the key first, and each file atomically: a process killed in between leaves no partial file. */
const writePair = (folder: string, [cert, key]: Names, { certPem, keyPem }: Certificate): void => {
  try {
    makeFolders(folder, 0o700);
    replaceFile(path.join(folder, key), keyPem, 0o600);
    replaceFile(path.join(folder, cert), certPem, 0o644);
  } catch (error) {
    throw new ConfigurationError(`${folder}: certificates cannot be stored there (${reasonOf(error)})`, {
      cause: error,
    });
  }
};

export interface CertificateRequest {
  /** The names and addresses by which senders reach the receiver. */
  readonly hosts: readonly string[];
  readonly nowMs: number;
  /** Where authority and certificate are stored; without it they last as long as this process. */
  readonly folder?: string;
  /** The user's own certificate. */
  readonly certificate?: Certificate;
  /** Told of what the operator must do. */
  readonly onTrouble?: ((message: string) => void) | undefined;
}

/** Finds or creates the receiver's certificate. Rejects with ConfigurationError. */
export const certificatesFor = async ({
  hosts,
  nowMs,
  folder,
  certificate,
  onTrouble,
}: CertificateRequest): Promise<Certificates> => {
  if (certificate !== undefined) {
    const caPem = issuerOf(certificate, checkCertificate(certificate));
    return { own: certificate, caPem, caFile: undefined, of: othersBeside(certificate, hosts, nowMs) };
  }
  const ca = await keptOrMade(
    folder,
    authorityFiles,
    (x509) => serves(x509, [], nowMs),
    (kept) => {
      if (kept !== undefined)
        onTrouble?.(
          `the authority in ${folder} is valid from ${kept.validFrom} to ${kept.validTo} only; a new one replaces it, which senders must trust`,
        );
      return makeCa(nowMs);
    },
  );
  const { publicKey } = new X509Certificate(ca.certPem);
  const own = await keptOrMade(
    folder,
    serverFiles,
    (x509) => serves(x509, hosts, nowMs) && x509.verify(publicKey),
    () => currentLeaf(ca, hosts, nowMs),
  );
  const caFile = folder === undefined ? undefined : path.join(folder, authorityFiles[0]);
  return { own, caPem: ca.certPem, caFile, of: othersBeside(own, hosts, nowMs, ca) };
};

/** The last certificate of the user's chain, or the certificate itself if self-signed. */
const issuerOf = ({ certPem }: Certificate, x509: X509Certificate): string | undefined => {
  const [, ...chain] = certPem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return chain.at(-1) ?? (x509.issuer === x509.subject ? certPem : undefined);
};

/** The pair stored in the folder if still valid, otherwise a new one, which is stored. */
const keptOrMade = async (
  folder: string | undefined,
  names: Names,
  isGood: (x509: X509Certificate) => boolean,
  make: (kept?: X509Certificate) => Promise<Certificate>,
): Promise<Certificate> => {
  if (folder === undefined) return make();
  const kept = await readPair(folder, names);
  if (kept !== undefined && isGood(kept.x509)) return kept;
  const made = await make(kept?.x509);
  writePair(folder, names, made);
  return made;
};

const othersBeside = (
  own: Certificate,
  hosts: readonly string[],
  nowMs: number,
  ca?: Certificate,
): Certificates["of"] => {
  const made = new Map<CertificateKind, Promise<Certificate>>([["own", Promise.resolve(own)]]);
  const make = async (kind: CertificateKind): Promise<Certificate> => {
    // The user's authority key is not available here, so a certificate for it would be untrusted as well.
    const isUntrusted = kind === "untrusted" || ca === undefined;
    const authority = isUntrusted ? await makeCa(nowMs, "An untrusted authority") : ca;
    if (kind === "expired") return makeLeaf(authority, hosts, [nowMs - 30 * DAY_MS, nowMs - DAY_MS]);
    return currentLeaf(authority, kind === "wrong-host" ? ["wrong.host.invalid"] : hosts, nowMs);
  };
  return (kind) => {
    const certificate = made.get(kind) ?? make(kind);
    made.set(kind, certificate);
    return certificate;
  };
};
