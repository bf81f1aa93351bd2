import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";

/** Where a certificate is, and what it must be. */
export interface Target {
  /** `host:port`; or else `file`. */
  readonly endpoint?: string;
  readonly file?: string;
  /** Name that it must be made out to; an endpoint's own where it is left out. */
  readonly name?: string;
  readonly service?: string;
  /** File of the authorities that are trusted besides those of the system. */
  readonly ca?: string;
  /** It needs nobody to vouch for it. */
  readonly self_signed?: boolean;
}

/** What was seen of a certificate and those that vouch for it. */
export interface Seen {
  /** The one in question first. */
  readonly chain: readonly X509Certificate[];
  /** Why nobody trusted vouches for it; undefined: somebody does. */
  readonly untrusted?: string;
  /** Whether it is made out to the name; undefined: there is none to compare. */
  readonly fits?: boolean;
}

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** What OpenSSL says of time and name is looked at by itself. */
const OTHER_FLAWS = /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** Looks at a certificate. @throws where there is none, or nobody answers in time */
export async function see(
  target: Target,
  { timeout_ms }: { readonly timeout_ms: number },
): Promise<Seen> {
  const ca = target.ca === undefined ? undefined : await readFile(target.ca, "utf8");
  if (target.file !== undefined) return seeFile(await readFile(target.file, "utf8"), target, ca);
  return await seeEndpoint(target.endpoint!, target, { ca, timeout_ms });
}

/** @throws where the file has no certificate */
function seeFile(text: string, { name }: Target, ca: string | undefined): Seen {
  const chain = (text.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
  const [first] = chain;
  if (!first) throw Object.assign(new Error("No certificate"), { code: "no_certificate" });
  const broken = chain.slice(1).some((issuer, i) => !isIssuedBy(chain[i]!, issuer));
  const authorities = (ca?.match(PEM) ?? []).map((pem) => new X509Certificate(pem));
  const last = chain.at(-1)!;
  const vouched = ca === undefined || authorities.some((one) => isIssuedBy(last, one));
  return {
    chain,
    untrusted: broken ? "chain_broken" : vouched ? undefined : "issuer_not_trusted",
    fits: name === undefined ? undefined : isMadeOutTo(first, name),
  };
}

/** By its alternative names alone, as browsers do. @see RFC 9525 §2 */
function isMadeOutTo(certificate: X509Certificate, name: string): boolean {
  if (isIP(name)) return certificate.checkIP(name) !== undefined;
  return certificate.checkHost(name, { subject: "never", partialWildcards: false }) !== undefined;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.fingerprint256 === issuer.fingerprint256 ||
    (certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey));
}

function seeEndpoint(
  endpoint: string,
  { name }: Target,
  { ca, timeout_ms }: { ca: string | undefined; timeout_ms: number },
): Promise<Seen> {
  const at = endpoint.lastIndexOf(":");
  const host = endpoint.slice(0, at).replace(/^\[|\]$/g, "");
  const wanted = name ?? host;
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(endpoint.slice(at + 1)),
      ...(isIP(wanted) ? {} : { servername: wanted }),
      ...(ca === undefined ? {} : { ca }),
      rejectUnauthorized: false, // it is looked at, not trusted: nothing is sent
      checkServerIdentity: () => undefined,
    });
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    };
    const timer = setTimeout(
      () => fail(Object.assign(new Error("No answer"), { code: "timeout" })),
      timeout_ms,
    );
    socket.once("error", fail);
    socket.once("secureConnect", () => {
      try {
        const seen = seenAt(socket, wanted);
        clearTimeout(timer);
        socket.destroy();
        resolve(seen);
      } catch (error) {
        fail(error as Error);
      }
    });
  });
}

function seenAt(socket: TLSSocket, wanted: string): Seen {
  const chain: X509Certificate[] = [];
  for (let one = socket.getPeerX509Certificate(); one; one = one.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === one!.fingerprint256)) break;
    chain.push(one);
  }
  const error = socket.authorizationError as unknown as string | Error | null;
  const untrusted = error === null || error === undefined
    ? undefined
    : String(typeof error === "string" ? error : (error as NodeJS.ErrnoException).code ?? error);
  return {
    chain,
    untrusted: untrusted && !OTHER_FLAWS.test(untrusted) ? untrusted.toLowerCase() : undefined,
    fits: chain[0] && isMadeOutTo(chain[0], wanted),
  };
}
