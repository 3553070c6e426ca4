import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import path from "node:path";
import { tooWide } from "../../conformance/contract/files.ts";
import { currentLeaf, DAY_MS, makeCa, makeLeaf } from "./make-certificate.ts";
import { InvalidCertificate, reasonOf } from "./problems.ts";

/** A certificate (with its chain) and its private key, both PEM. */
export interface Certificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export const certificateKinds = ["own", "untrusted", "wrong-host", "expired"] as const;
export type CertificateKind = (typeof certificateKinds)[number];

/** What the receiver shows, and what it can show instead where a sender's check is to be tried. */
export interface Certificates {
  readonly own: Certificate;
  /** PEM of the authority to trust; undefined where the user's own certificate names none. */
  readonly caPem: string | undefined;
  readonly caFile: string | undefined;
  /** Another certificate, made when it is first asked for. */
  readonly of: (kind: CertificateKind) => Promise<Certificate>;
}

const RENEW_BEFORE_MS = 14 * DAY_MS;

/** Whether a certificate is still good for these hosts and not about to expire. */
const serves = (certificate: X509Certificate, hosts: readonly string[], nowMs: number): boolean =>
  Date.parse(certificate.validTo) - nowMs > RENEW_BEFORE_MS &&
  hosts.every((host) => (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined);

/**
 * Checks a user's certificate against its key. Throws InvalidCertificate that says which of the two is wrong.
 */
const checkCertificate = ({ certPem, keyPem }: Certificate): X509Certificate => {
  const certificate = parsed("certificate", () => new X509Certificate(certPem));
  const key = parsed("key", () => createPrivateKey(keyPem));
  if (!certificate.checkPrivateKey(key))
    throw new InvalidCertificate(
      `key: it is not the key of the certificate "${certificate.subject}"; accepted is the private key that the certificate was made for`,
    );
  return certificate;
};

const parsed = <T>(what: string, parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    throw new InvalidCertificate(`${what}: it cannot be read (${reasonOf(error)}); accepted is PEM`, {
      cause: error,
    });
  }
};

const files = { ca: "ca.pem", caKey: "ca-key.pem", leaf: "server.pem", leafKey: "server-key.pem" } as const;

/** A key that others may have read is not made good by making another: senders trust what it signed. */
class WideKey extends InvalidCertificate {}

const readPair = async (
  folder: string,
  cert: string,
  key: string,
): Promise<(Certificate & { readonly x509: X509Certificate }) | undefined> => {
  try {
    const certPem = await readFile(path.join(folder, cert), "utf8");
    const keyFile = path.join(folder, key);
    const wide = tooWide(keyFile, (await stat(keyFile)).mode, process.platform, "the key");
    if (wide !== undefined) throw new WideKey(wide);
    const keyPem = await readFile(keyFile, "utf8");
    return { certPem, keyPem, x509: checkCertificate({ certPem, keyPem }) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    if (error instanceof WideKey) throw error;
    throw new InvalidCertificate(
      `${folder}: ${cert} or ${key} cannot be used (${reasonOf(error)}); remove both and they are made anew`,
      { cause: error },
    );
  }
};

/** The key goes first, and each file appears whole: a process that is killed in between leaves nothing half made. */
const writePair = async (
  folder: string,
  { certPem, keyPem }: Certificate,
  cert: string,
  key: string,
): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [name, text, mode] of [
      [key, keyPem, 0o600],
      [cert, certPem, 0o644],
    ] as const) {
      const file = path.join(folder, name);
      await writeFile(`${file}.new`, text, { mode });
      await rename(`${file}.new`, file);
    }
  } catch (error) {
    throw new InvalidCertificate(`${folder}: certificates cannot be kept there (${reasonOf(error)})`, {
      cause: error,
    });
  }
};

export interface CertificateRequest {
  /** The names and addresses by which senders reach the receiver. */
  readonly hosts: readonly string[];
  readonly nowMs: number;
  /** Where the authority and the certificate are kept; made anew for this process where left out. */
  readonly folder?: string;
  /** The user's own. */
  readonly certificate?: Certificate;
}

/** Finds or makes the receiver's certificate. Rejects with InvalidCertificate. */
export const certificatesFor = async (request: CertificateRequest): Promise<Certificates> => {
  const { hosts, nowMs, folder } = request;
  if (request.certificate !== undefined) {
    const x509 = checkCertificate(request.certificate);
    const [, ...chain] =
      request.certificate.certPem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    const issuer = chain.at(-1) ?? (x509.issuer === x509.subject ? request.certificate.certPem : undefined);
    return withOthers(request.certificate, issuer, undefined, hosts, nowMs);
  }
  if (folder === undefined) {
    const ca = await makeCa(nowMs);
    return withOthers(await currentLeaf(ca, hosts, nowMs), ca.certPem, undefined, hosts, nowMs, ca);
  }
  const kept = await readPair(folder, files.ca, files.caKey);
  const keptGood = kept !== undefined && serves(kept.x509, [], nowMs);
  const ca = keptGood ? kept : await makeCa(nowMs);
  if (!keptGood) await writePair(folder, ca, files.ca, files.caKey);
  const keptLeaf = keptGood ? await readPair(folder, files.leaf, files.leafKey) : undefined;
  const leafGood =
    keptLeaf !== undefined &&
    serves(keptLeaf.x509, hosts, nowMs) &&
    keptLeaf.x509.verify(new X509Certificate(ca.certPem).publicKey);
  const leaf = leafGood ? keptLeaf : await currentLeaf(ca, hosts, nowMs);
  if (!leafGood) await writePair(folder, leaf, files.leaf, files.leafKey);
  return withOthers(leaf, ca.certPem, path.join(folder, files.ca), hosts, nowMs, ca);
};

const withOthers = (
  own: Certificate,
  caPem: string | undefined,
  caFile: string | undefined,
  hosts: readonly string[],
  nowMs: number,
  ca?: Certificate,
): Certificates => {
  const made = new Map<CertificateKind, Promise<Certificate>>();
  const make = async (kind: Exclude<CertificateKind, "own">): Promise<Certificate> => {
    // Where the user's authority signs, its key is not here: the certificate is then untrusted as well.
    const authority =
      kind === "untrusted" || ca === undefined ? await makeCa(nowMs, "An authority that nobody trusts") : ca;
    if (kind === "expired") return makeLeaf(authority, hosts, [nowMs - 30 * DAY_MS, nowMs - DAY_MS]);
    return currentLeaf(authority, kind === "wrong-host" ? ["wrong.host.invalid"] : hosts, nowMs);
  };
  return {
    own,
    caPem,
    caFile,
    of: (kind) => {
      if (kind === "own") return Promise.resolve(own);
      const certificate = made.get(kind) ?? make(kind);
      made.set(kind, certificate);
      return certificate;
    },
  };
};
