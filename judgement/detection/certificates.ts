import { PLATFORM_TENANT, say } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { fingerprintFault, type Store } from "../../store/mod.ts";
import { type FindingRecord, listOpenFindings } from "../../store/incidents/mod.ts";
import { listWatchedServices } from "../../store/cmdb/mod.ts";
import { findFlaws, type Flaw } from "./_certificate_flaws.ts";
import { type CertificateTarget, readCertificate } from "./_tls.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  type FaultId,
  findingFromRecord,
  type RecheckResult,
  untilDeadline,
} from "./detector.ts";

/** Number of certificates that are read at a time. */
const CONCURRENCY = 32;

/** Looks at certificates before they fail. */
export const certificates: Detector = {
  name: "certificates",
  about: "Looks at the certificates of endpoints and in PEM files: time, chain, name",
  ofHost: false,
  ofEveryTenant: true,
  configuration: ({ certificates: { watch, ...rest } }) => ({ ...rest, watch: watch.length }),
  detect: detectFlaws,
  recheck: recheckCertificate,
};

async function detectFlaws(
  context: DetectionContext,
  deadline: AbortSignal,
): Promise<DetectorResult> {
  const { settings: { certificates: settings }, store } = context;
  const targets = await listTargets(context);
  const known = await listOpenFindings(store.db, { detector: "certificates" });
  const found: DetailedFinding[] = [];
  const problems = new Set<string>();
  const queue = [...targets];
  const work = async () => {
    for (let target = queue.shift(); target && !deadline.aborted; target = queue.shift()) {
      try {
        const chain = await readCertificate(target, settings.timeout_ms);
        if (deadline.aborted) return;
        for (const flaw of findFlaws(target, chain, settings)) {
          found.push(await createFinding(target, flaw, context));
        }
      } catch (error) {
        if (deadline.aborted) return;
        problems.add(`${target.file ? "file" : "endpoint"}_${errorCode(error)}`);
        // A certificate that can't be read is assumed to be as before.
        found.push(
          ...known.filter((one) => keyOf(one.target) === keyOf(target!)).map(findingFromRecord),
        );
      }
    }
  };
  await untilDeadline(Array.from({ length: CONCURRENCY }, work), deadline);
  return { probed: targets.length, found, problems: [...problems], complete: !deadline.aborted };
}

async function recheckCertificate(
  { store, settings: { certificates: settings } }: DetectionContext,
  { code, fingerprint }: FaultId,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
  if (!known) return { present: false, code: "unknown_finding" };
  const target = known.target as CertificateTarget;
  try {
    const chain = await readCertificate(target, settings.timeout_ms);
    for (const { quality, also = quality, code } of findFlaws(target, chain, settings)) {
      for (const aspect of [quality, also]) {
        if (await fingerprintOf(store, target, aspect) === fingerprint) {
          return { present: true, code };
        }
      }
    }
    return { present: false, code: "ok" };
  } catch {
    return { present: true, code }; // it can't be read, so it is assumed to be as before
  }
}

/** Lists the certificates of services that are probed over HTTPS; for the operator also those that the settings name. */
async function listTargets(
  { settings, store, config, places }: DetectionContext,
): Promise<CertificateTarget[]> {
  const { watch, services } = settings.certificates;
  const targets = new Map<string, CertificateTarget>();
  const add = (target: CertificateTarget) => {
    const key = keyOf(target);
    if (!targets.has(key)) targets.set(key, target); // settings come first, as they say more than a probe
  };
  if (store.tenant === PLATFORM_TENANT) {
    watch.forEach(add);
    const own = config.settings.SEALOOP_TLS_CERT;
    if (own) add({ file: own, service: "gateway" });
  }
  if (services) {
    for (const { name, check } of await listWatchedServices(store.db, places) as Service[]) {
      const url = check && "http" in check ? new URL(check.http) : undefined;
      if (url?.protocol !== "https:") continue;
      add({ endpoint: `${url.hostname}:${url.port || 443}`, service: name });
    }
  }
  return [...targets.values()];
}

function keyOf({ endpoint, file, name }: CertificateTarget): string {
  return endpoint ?? `${file} ${name ?? ""}`;
}

async function fingerprintOf(
  store: Store,
  target: CertificateTarget,
  quality: Flaw["quality"],
): Promise<string> {
  return await fingerprintFault(store, "certificates", keyOf(target), quality);
}

async function createFinding(
  target: CertificateTarget,
  { quality, code, severity, says, detail }: Flaw,
  { store, host, config }: DetectionContext,
): Promise<DetailedFinding> {
  return {
    service: target.service ?? null,
    detector: "certificates",
    check: "certificate",
    code,
    fingerprint: await fingerprintOf(store, target, quality),
    severity,
    observed_at: new Date().toISOString(),
    host: target.file === undefined ? null : host,
    lookedAtBy: config.place,
    summary: say`The certificate of ${target.endpoint ?? target.file} ${says}`,
    detail,
    target: { ...target },
  };
}

function errorCode(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? "no_tls" : code.toLowerCase().replace(/^econn/, "");
}
