import type { X509Certificate } from "node:crypto";
import { say, type Severity, type Text } from "../../contract/domain/mod.ts";
import type { CertificateChain, CertificateTarget } from "./_tls.ts";

/** Aspect of a certificate. */
type Quality = "time" | "chain" | "name";

/** A flaw of a certificate. */
export interface Flaw {
  /** Aspect that it is about: a flaw of the same aspect is the same fault. */
  readonly quality: Quality;
  /** Aspect that is wrong as well, and that another certificate puts right with it. */
  readonly also?: Quality;
  readonly code: "expired" | "not_yet_valid" | "expires_soon" | "untrusted" | "wrong_name";
  readonly severity: Severity;
  /** End of a sentence about the certificate. */
  readonly says: Text;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Limits of the time that is left. */
export interface ExpiryLimits {
  readonly soon_days: number;
  readonly urgent_days: number;
}

const DAY_MS = 86_400_000;

/** Finds the flaws of a certificate. One that nobody trusts and that has another name is the wrong one: a single fault. */
export function findFlaws(
  target: CertificateTarget,
  { chain, untrusted, matchesName }: CertificateChain,
  limits: ExpiryLimits,
): Flaw[] {
  const found: Flaw[] = [];
  const time = findTimeFlaw(chain, limits);
  if (time) found.push(time);
  const isUntrusted = untrusted !== undefined && !target.self_signed;
  const hasOtherName = matchesName === false;
  const names = chain[0]?.subjectAltName?.slice(0, 500) ?? null;
  const owner = say`issued to ${target.name ?? target.endpoint}`;
  if (isUntrusted) {
    found.push({
      quality: "chain",
      code: "untrusted",
      severity: "high",
      says: say`is not issued by a trusted authority${hasOtherName ? say`, and not ${owner}` : ""}`,
      detail: {
        reason: untrusted,
        issuer: chain[0]?.issuer,
        ...(hasOtherName ? { names } : {}),
      },
      ...(hasOtherName ? { also: "name" } : {}),
    });
  } else if (hasOtherName) {
    found.push({
      quality: "name",
      code: "wrong_name",
      severity: "high",
      says: say`is not ${owner}`,
      detail: { names },
    });
  }
  return found;
}

/** Checks the certificate of the chain that ends first: the others are not trusted then. */
function findTimeFlaw(
  chain: readonly X509Certificate[],
  { soon_days, urgent_days }: ExpiryLimits,
): Flaw | undefined {
  const now = Date.now();
  const create = (
    certificate: X509Certificate,
    code: Flaw["code"],
    severity: Severity,
    says: string,
  ): Flaw => ({ quality: "time", code, severity, says, detail: timeDetail(certificate, chain) });

  const early = chain.find((one) => startOf(one) > now);
  if (early) {
    const from = new Date(startOf(early)).toISOString();
    return create(early, "not_yet_valid", "high", `is valid only from ${from} on`);
  }
  const [first] = [...chain].sort((a, b) => endOf(a) - endOf(b));
  if (!first) return undefined;
  const left = endOf(first) - now;
  const until = new Date(endOf(first)).toISOString();
  if (left <= 0) return create(first, "expired", "high", `has expired at ${until}`);
  const lifetime = endOf(first) - startOf(first); // a certificate for a week is renewed later than one for a year
  const soon = Math.min(soon_days * DAY_MS, lifetime / 3);
  const urgent = Math.min(urgent_days * DAY_MS, lifetime / 10);
  if (left > soon) return undefined;
  return create(first, "expires_soon", left <= urgent ? "high" : "medium", `expires at ${until}`);
}

function timeDetail(certificate: X509Certificate, chain: readonly X509Certificate[]) {
  return {
    subject: certificate.subject,
    valid_from: new Date(startOf(certificate)).toISOString(),
    valid_to: new Date(endOf(certificate)).toISOString(),
    days_left: Math.floor((endOf(certificate) - Date.now()) / DAY_MS),
    place_in_chain: chain.indexOf(certificate),
  };
}

function startOf({ validFrom }: X509Certificate): number {
  return Date.parse(validFrom);
}

function endOf({ validTo }: X509Certificate): number {
  return Date.parse(validTo);
}
