import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { parseHostPort } from "../integrations/host/mod.ts";

/** A certificate to look at, and what is expected of it. */
export interface CertificateTarget {
  /** `host:port`; either this or `file`. */
  readonly endpoint?: string;
  readonly file?: string;
  /** Name that it must be issued to; of an endpoint, its host by default. */
  readonly name?: string;
  readonly service?: string;
  /** File of the authorities that are trusted besides those of the system. */
  readonly ca?: string;
  /** True: it need not be issued by a trusted authority. */
  readonly self_signed?: boolean;
}

/** A certificate with its issuers. */
export interface CertificateChain {
  /** The certificate itself first. */
  readonly chain: readonly X509Certificate[];
  /** Why it is not trusted; absent: it is. */
  readonly untrusted?: string;
  /** False: it is issued to another name than expected; absent: no name is expected. */
  readonly matchesName?: boolean;
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** Errors of OpenSSL about time and name, which are checked separately. */
const OTHER_ERRORS = /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME_INVALID)$/;

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
  const chain = parsePem(text);
  const [first] = chain;
  if (!first) throw Object.assign(new Error("No certificate"), { code: "no_certificate" });
  return {
    chain,
    untrusted: distrustReason(chain, ca),
    matchesName: name === undefined ? undefined : isIssuedTo(first, name),
  };
}

function distrustReason(
  chain: readonly X509Certificate[],
  ca: string | undefined,
): string | undefined {
  const isBroken = chain.slice(1).some((issuer, i) => !isIssuedBy(chain[i]!, issuer));
  if (isBroken) return "chain_broken";
  const isTrusted = ca === undefined || parsePem(ca).some((one) => isIssuedBy(chain.at(-1)!, one));
  return isTrusted ? undefined : "issuer_not_trusted";
}

function parsePem(text: string): X509Certificate[] {
  return (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
}

/** Compares alternative names only, as browsers do. @see RFC 9525 §2 */
function isIssuedTo(certificate: X509Certificate, name: string): boolean {
  if (isIP(name)) return certificate.checkIP(name) !== undefined;
  return certificate.checkHost(name, { subject: "never", partialWildcards: false }) !== undefined;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.fingerprint256 === issuer.fingerprint256 ||
    (certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
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
        const chain = peerChain(socket, expected);
        clearTimeout(timer);
        socket.destroy();
        resolve(chain);
      } catch (error) {
        fail(error as Error);
      }
    });
  });
}

function peerChain(socket: TLSSocket, expected: string): CertificateChain {
  const chain: X509Certificate[] = [];
  for (let one = socket.getPeerX509Certificate(); one; one = one.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === one!.fingerprint256)) break;
    chain.push(one);
  }
  return {
    chain,
    untrusted: authorizationError(socket),
    matchesName: chain[0] && isIssuedTo(chain[0], expected),
  };
}

function authorizationError(socket: TLSSocket): string | undefined {
  const error = socket.authorizationError as unknown as string | NodeJS.ErrnoException | null;
  if (error === null || error === undefined) return undefined;
  const code = String(typeof error === "string" ? error : error.code ?? error);
  return OTHER_ERRORS.test(code) ? undefined : code.toLowerCase();
}
