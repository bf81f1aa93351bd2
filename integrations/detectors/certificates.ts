import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { type FindingRecord, openFindings, watchedServices } from "../../store/mod.ts";
import { type DetectedFinding, fingerprintOf, type Service, type Severity } from "../findings.ts";
import {
  again,
  type Detector,
  type Found,
  type Look,
  type Rechecked,
  type World,
} from "./_detector.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["certificates"];

/** Where a certificate is, and what it must be. */
interface Target {
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
interface Seen {
  /** The one in question first. */
  readonly chain: readonly X509Certificate[];
  /** Why nobody trusted vouches for it; undefined: somebody does. */
  readonly untrusted?: string;
  /** Whether it is made out to the name; undefined: there is none to compare. */
  readonly fits?: boolean;
}

/** One thing that is wrong with a certificate. */
interface Flaw {
  /** Which of its qualities: the same one is the same fault. */
  readonly quality: "time" | "chain" | "name";
  readonly code: "expired" | "not_yet_valid" | "expires_soon" | "untrusted" | "wrong_name";
  readonly severity: Severity;
  readonly says: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

const DAY_MS = 86_400_000;
const AT_ONCE = 32;
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** What OpenSSL says of time and name is looked at by itself. */
const OTHER_FLAWS = /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|ERR_TLS_CERT_ALTNAME_INVALID)$/;

/** Looks at certificates before somebody else finds out. */
export const certificates: Detector = {
  name: "certificates",
  about: "Looks at the certificates of endpoints and in PEM files: time, chain, name",
  ofHost: false,
  configuration: ({ certificates: { watch, ...rest } }) => ({ ...rest, watch: watch.length }),

  async look(world, deadline): Promise<Look> {
    const { settings: { certificates: settings }, store } = world;
    const targets = await targetsOf(world);
    const known = await openFindings(store.knex, { detector: "certificates" });
    const found: Found[] = [];
    const problems = new Set<string>();
    const queue = [...targets];
    const work = async () => {
      for (let target = queue.shift(); target && !deadline.aborted; target = queue.shift()) {
        try {
          const seen = await see(target, settings);
          found.push(...flaws(target, seen, settings).map((flaw) => foundOf(target!, flaw, world)));
        } catch (error) {
          problems.add(`${target.file ? "file" : "endpoint"}_${reason(error)}`);
          // What nobody can see is believed to be as it was.
          found.push(...known.filter((one) => keyOf(one.target) === keyOf(target!)).map(again));
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { probed: targets.length, found, problems: [...problems], complete: !deadline.aborted };
  },

  async recheck(world, finding, known): Promise<Rechecked> {
    return await recheckCertificate(world, finding, known);
  },
};

async function recheckCertificate(
  { settings: { certificates: settings } }: World,
  { code, fingerprint }: DetectedFinding,
  known: FindingRecord | undefined,
): Promise<Rechecked> {
  if (!known) return { present: false, code: "unknown_finding" };
  const target = known.target as Target;
  try {
    const now = flaws(target, await see(target, settings), settings)
      .find(({ quality }) => fingerprintFor(target, quality) === fingerprint);
    return now ? { present: true, code: now.code } : { present: false, code: "ok" };
  } catch {
    return { present: true, code }; // that it can't be seen doesn't make it right
  }
}

/** What is configured, with the services that are probed over HTTPS, and the platform's own. */
async function targetsOf({ settings, store, config }: World): Promise<Target[]> {
  const { watch, services } = settings.certificates;
  const targets: Target[] = [...watch];
  const own = config.settings.SEALOOP_TLS_CERT;
  if (own) targets.push({ file: own, service: "gateway" });
  if (services) {
    for (const { name, check } of await watchedServices(store.knex) as Service[]) {
      const url = check && "http" in check ? new URL(check.http) : undefined;
      if (url?.protocol !== "https:") continue;
      targets.push({ endpoint: `${url.hostname}:${url.port || 443}`, service: name });
    }
  }
  // What is configured says more than what a service's probe tells, so it comes first and stays.
  return [...new Map(targets.reverse().map((target) => [keyOf(target), target])).values()];
}

const keyOf = ({ endpoint, file, name }: Target) => endpoint ?? `${file} ${name ?? ""}`;

async function see(target: Target, { timeout_ms }: Settings): Promise<Seen> {
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

function flaws(target: Target, { chain, untrusted, fits }: Seen, settings: Settings): Flaw[] {
  const found: Flaw[] = [];
  const time = flawOfTime(chain, settings);
  if (time) found.push(time);
  if (untrusted && !target.self_signed) {
    found.push({
      quality: "chain",
      code: "untrusted",
      severity: "high",
      says: "is not vouched for by anybody trusted",
      detail: { reason: untrusted, issuer: chain[0]?.issuer },
    });
  }
  if (fits === false) {
    found.push({
      quality: "name",
      code: "wrong_name",
      severity: "high",
      says: `is not made out to ${target.name ?? target.endpoint}`,
      detail: { names: chain[0]?.subjectAltName?.slice(0, 500) ?? null },
    });
  }
  return found;
}

/** By the first of the chain that ends: nobody believes the others then. */
function flawOfTime(
  chain: readonly X509Certificate[],
  { soon_days, urgent_days }: Settings,
): Flaw | undefined {
  const now = Date.now();
  const ends = (one: X509Certificate) => Date.parse(one.validTo);
  const begins = (one: X509Certificate) => Date.parse(one.validFrom);
  const early = chain.find((one) => begins(one) > now);
  const detail = (one: X509Certificate) => ({
    subject: one.subject,
    valid_from: new Date(begins(one)).toISOString(),
    valid_to: new Date(ends(one)).toISOString(),
    days_left: Math.floor((ends(one) - now) / DAY_MS),
    place_in_chain: chain.indexOf(one),
  });
  const make = (one: X509Certificate, rest: Pick<Flaw, "code" | "severity" | "says">): Flaw => ({
    ...rest,
    quality: "time",
    detail: detail(one),
  });
  if (early) {
    const from = new Date(begins(early)).toISOString();
    return make(early, {
      ...{ code: "not_yet_valid", severity: "high", says: `is valid from ${from} on` },
    });
  }
  const [first] = [...chain].sort((a, b) => ends(a) - ends(b));
  if (!first) return undefined;
  const left = ends(first) - now;
  const until = new Date(ends(first)).toISOString();
  if (left <= 0) {
    return make(first, { code: "expired", severity: "high", says: `has expired at ${until}` });
  }
  const life = ends(first) - begins(first); // one for a week isn't renewed three weeks before its end
  const soon = Math.min(soon_days * DAY_MS, life / 3);
  const urgent = Math.min(urgent_days * DAY_MS, life / 10);
  if (left > soon) return undefined;
  return make(first, {
    code: "expires_soon",
    severity: left <= urgent ? "high" : "medium",
    says: `expires at ${until}`,
  });
}

const fingerprintFor = (target: Target, quality: Flaw["quality"]) =>
  fingerprintOf("certificates", keyOf(target), quality);

function foundOf(target: Target, { quality, code, severity, says, detail }: Flaw, { host }: World) {
  const found: Found = {
    service: target.service ?? null,
    detector: "certificates",
    check: "certificate",
    code,
    fingerprint: fingerprintFor(target, quality),
    severity,
    observed_at: new Date().toISOString(),
    host: target.file === undefined ? null : host,
    summary: `The certificate of ${target.endpoint ?? target.file} ${says}`,
    detail,
    target: { ...target },
  };
  return found;
}

function reason(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? "no_tls" : code.toLowerCase().replace(/^econn/, "");
}
