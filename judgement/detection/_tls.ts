import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, rootCertificates, type TLSSocket } from "node:tls";
import { parseHostPort } from "../../integrations/host/mod.ts";
import { type CertificatePath, findPath, isIssuedBy, isValidNow } from "./_certificate_path.ts";

/** A certificate to look at, and what is expected of it. */
export interface CertificateTarget {
  /** `host:port`; either this or `file`. */
  readonly endpoint?: string;
  readonly file?: string;
  /** Name that it must be issued to; of an endpoint, its host by default. */
  readonly name?: string;
  readonly service?: string;
  /** File of the authorities that are trusted; by default those of Node are. */
  readonly ca?: string;
  /** True: it need not be issued by a trusted authority. */
  readonly self_signed?: boolean;
}

/** A certificate with its issuers. */
export interface CertificateChain {
  /** The path to a trusted authority, the certificate itself first. Other certificates that came with it are left out. */
  readonly chain: readonly X509Certificate[];
  /** Why it is not trusted; absent: it is. */
  readonly untrusted?: string;
  /** False: it is issued to another name than expected; absent: no name is expected. */
  readonly matchesName?: boolean;
}

const PEM = /-----BEGIN (?:X509 )?CERTIFICATE-----[\s\S]+?-----END (?:X509 )?CERTIFICATE-----/g;
/** Maximum of certificates of a server that are looked at. */
const MAX_SENT = 32;
/** Errors of OpenSSL about time and name, which are checked separately. */
const OF_TIME = /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/;
const OTHER_ERRORS = new RegExp(`${OF_TIME.source}|^ERR_TLS_CERT_ALTNAME_INVALID$`);

/** Reads a certificate. @throws where there is none, or nobody answers in time */
export async function readCertificate(
  target: CertificateTarget,
  timeoutMs: number,
): Promise<CertificateChain> {
  const ca = target.ca === undefined ? undefined : await readFile(target.ca, "utf8");
  if (target.file !== undefined) return parseFile(await readFile(target.file, "utf8"), target, ca);
  return await readEndpoint(target.endpoint!, target, { ca, timeoutMs });
}

/** @throws where the file has no certificate */
function parseFile(
  text: string,
  { name }: CertificateTarget,
  ca: string | undefined,
): CertificateChain {
  const [first, ...others] = parsePem(text);
  if (!first) throw Object.assign(new Error("No certificate"), { code: "no_certificate" });
  const found = findPath(first, others, authorities(ca));
  return {
    chain: found.path,
    untrusted: distrustReason(found, others, ca),
    matchesName: name === undefined ? undefined : isIssuedTo(first, name),
  };
}

/** Returns why the certificates of a file are not trusted. Without authorities only the links between them are checked. */
function distrustReason(
  { path, isTrusted }: CertificatePath,
  others: readonly X509Certificate[],
  ca: string | undefined,
): string | undefined {
  if (isTrusted) return undefined;
  if (path.length === 1 && others.length > 0 && !isIssuedBy(path[0]!, path[0]!)) {
    return "chain_broken";
  }
  return ca === undefined ? undefined : "issuer_not_trusted";
}

function parsePem(text: string): X509Certificate[] {
  return (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
}

let ofNode: readonly X509Certificate[] | undefined;

/** Returns the certificates of authorities that are trusted: those of `ca`, or else those of Node. */
function authorities(ca: string | undefined): readonly X509Certificate[] {
  return ca === undefined
    ? ofNode ??= rootCertificates.map((pem) => new X509Certificate(pem))
    : parsePem(ca);
}

/** Compares alternative names only, as browsers do. @see RFC 9525 §2 */
function isIssuedTo(certificate: X509Certificate, name: string): boolean {
  if (isIP(name)) return certificate.checkIP(name) !== undefined;
  return certificate.checkHost(name, { subject: "never", partialWildcards: false }) !== undefined;
}

function readEndpoint(
  endpoint: string,
  { name }: CertificateTarget,
  { ca, timeoutMs }: { ca: string | undefined; timeoutMs: number },
): Promise<CertificateChain> {
  const { host, port } = parseHostPort(endpoint);
  const expected = name ?? host;
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...(isIP(expected) ? {} : { servername: expected }),
      ...(ca === undefined ? {} : { ca }),
      rejectUnauthorized: false, // the certificate is only looked at: nothing is sent
      checkServerIdentity: () => undefined,
    });
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(Object.assign(new Error("No answer"), { code: "timeout" })),
      timeoutMs,
    );
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      try {
        const chain = peerChain(socket, expected, ca);
        clearTimeout(timer);
        socket.destroy();
        resolve(chain);
      } catch (error) {
        fail(error as Error);
      }
    });
  });
}

/** Returns the path that OpenSSL verified, as far as it can be told: Node returns what the server sent. */
function peerChain(
  socket: TLSSocket,
  expected: string,
  ca: string | undefined,
): CertificateChain {
  const sent: X509Certificate[] = []; // a server may send one twice, and a root may be its own issuer
  let one = socket.getPeerX509Certificate();
  for (; one && sent.length < MAX_SENT; one = one.issuerCertificate) sent.push(one);
  const [first, ...others] = sent;
  if (!first) throw Object.assign(new Error("No certificate"), { code: "no_certificate" });
  const { path } = findPath(first, others, authorities(ca));
  const error = authorizationError(socket);
  const isOverdue = error !== undefined && OF_TIME.test(error);
  // A path that was verified has no certificate that has ended; where time is the error, one of those sent has.
  const chain = error === undefined
    ? path.filter(isValidNow)
    : isOverdue && path.every(isValidNow)
    ? sent
    : path;
  const isOther = error !== undefined &&
    (!OTHER_ERRORS.test(error) || isOverdue && chain.every(isValidNow));
  return {
    chain,
    untrusted: isOther ? error.toLowerCase() : undefined,
    matchesName: isIssuedTo(first, expected),
  };
}

function authorizationError(socket: TLSSocket): string | undefined {
  const error = socket.authorizationError as unknown as string | NodeJS.ErrnoException | null;
  if (error === null || error === undefined) return undefined;
  return String(typeof error === "string" ? error : error.code ?? error);
}
