import type { X509Certificate } from "node:crypto";
import type { Service } from "../integrations/host/mod.ts";
import {
  type FindingRecord,
  fingerprintFault,
  listOpenFindings,
  listWatchedServices,
} from "../store/mod.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  findingFromRecord,
  type RecheckResult,
  untilDeadline,
} from "./_detector.ts";
import type { DetectedFinding } from "./findings.ts";
import type { Severity } from "../domain/mod.ts";
import { see, type Seen, type Target } from "./_tls.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["certificates"];

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
/** Looks at certificates before somebody else finds out. */
export const certificates: Detector = {
  name: "certificates",
  about: "Looks at the certificates of endpoints and in PEM files: time, chain, name",
  ofHost: false,
  configuration: ({ certificates: { watch, ...rest } }) => ({ ...rest, watch: watch.length }),

  async detect(world, deadline): Promise<DetectorResult> {
    const { settings: { certificates: settings }, store } = world;
    const targets = await targetsOf(world);
    const known = await listOpenFindings(store.asPlatform(), { detector: "certificates" });
    const found: DetailedFinding[] = [];
    const problems = new Set<string>();
    const queue = [...targets];
    const work = async () => {
      for (let target = queue.shift(); target && !deadline.aborted; target = queue.shift()) {
        try {
          const seen = await see(target, settings);
          if (deadline.aborted) return;
          found.push(...flaws(target, seen, settings).map((flaw) => foundOf(target!, flaw, world)));
        } catch (error) {
          if (deadline.aborted) return;
          problems.add(`${target.file ? "file" : "endpoint"}_${reason(error)}`);
          // What nobody can see is believed to be as it was.
          found.push(
            ...known.filter((one) => keyOf(one.target) === keyOf(target!)).map(findingFromRecord),
          );
        }
      }
    };
    await untilDeadline(Array.from({ length: AT_ONCE }, work), deadline);
    return { probed: targets.length, found, problems: [...problems], complete: !deadline.aborted };
  },

  async recheck(world, finding, known): Promise<RecheckResult> {
    return await recheckCertificate(world, finding, await known);
  },
};

async function recheckCertificate(
  { settings: { certificates: settings } }: DetectionContext,
  { code, fingerprint }: DetectedFinding,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
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
async function targetsOf({ settings, store, config }: DetectionContext): Promise<Target[]> {
  const { watch, services } = settings.certificates;
  const targets: Target[] = [...watch];
  const own = config.settings.SEALOOP_TLS_CERT;
  if (own) targets.push({ file: own, service: "gateway" });
  if (services) {
    for (const { name, check } of await listWatchedServices(store.asPlatform()) as Service[]) {
      const url = check && "http" in check ? new URL(check.http) : undefined;
      if (url?.protocol !== "https:") continue;
      targets.push({ endpoint: `${url.hostname}:${url.port || 443}`, service: name });
    }
  }
  // What is configured says more than what a service's probe tells, so it comes first and stays.
  return [...new Map(targets.reverse().map((target) => [keyOf(target), target])).values()];
}

const keyOf = ({ endpoint, file, name }: Target) => endpoint ?? `${file} ${name ?? ""}`;

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
  fingerprintFault("certificates", keyOf(target), quality);

function foundOf(
  target: Target,
  { quality, code, severity, says, detail }: Flaw,
  { host }: DetectionContext,
) {
  const found: DetailedFinding = {
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
