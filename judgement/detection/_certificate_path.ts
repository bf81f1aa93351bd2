/** Finds the path from a certificate to an authority that is trusted. What a server sends besides is no part of it. */
import type { X509Certificate } from "node:crypto";

/** Certificates of a path, the first one issued by the second, and so on. */
export interface CertificatePath {
  readonly path: readonly X509Certificate[];
  /** The last one is a trusted authority. */
  readonly isTrusted: boolean;
}

/** Maximum of certificates of a path. */
const MAX_LENGTH = 10;
/** Maximum of signatures that are checked for a path. */
const MAX_CHECKS = 500;

/**
 * Finds the best path: one that is trusted, valid now, and remains so for longest. If none is trusted, the path goes as far
 * as the other certificates lead.
 *
 * @param others certificates that came with the first one, in any order
 * @param trusted certificates of authorities
 */
export function findPath(
  first: X509Certificate,
  others: readonly X509Certificate[],
  trusted: readonly X509Certificate[],
): CertificatePath {
  const found: CertificatePath[] = [];
  let checks = 0;
  const isIssuer = (issuer: X509Certificate, one: X509Certificate) =>
    checks++ < MAX_CHECKS && isIssuedBy(one, issuer);
  const extend = (path: readonly X509Certificate[]): void => {
    const last = path.at(-1)!;
    if (trusted.some((one) => isSame(one, last))) {
      found.push({ path, isTrusted: true });
      return;
    }
    const anchors = trusted.filter((one) => isIssuer(one, last));
    for (const anchor of anchors) found.push({ path: [...path, anchor], isTrusted: true });
    const next = path.length >= MAX_LENGTH
      ? []
      : others.filter((one) =>
        one.ca && !path.some((known) => isSame(known, one)) && isIssuer(one, last)
      );
    for (const one of next) extend([...path, one]);
    if (anchors.length === 0 && next.length === 0) found.push({ path, isTrusted: false });
  };
  extend([first]);
  return found.sort((a, b) =>
    Number(b.isTrusted) - Number(a.isTrusted) || Number(isValid(b)) - Number(isValid(a)) ||
    endOf(b) - endOf(a)
  )[0]!;
}

/** Tells whether one certificate is issued and signed by another. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Tells whether a certificate is valid at this time. */
export function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  return Date.parse(validFrom) <= Date.now() && Date.parse(validTo) > Date.now();
}

function isSame(one: X509Certificate, other: X509Certificate): boolean {
  return one.fingerprint256 === other.fingerprint256;
}

function isValid({ path }: CertificatePath): boolean {
  return path.every(isValidNow);
}

function endOf({ path }: CertificatePath): number {
  return Math.min(...path.map(({ validTo }) => Date.parse(validTo)));
}
