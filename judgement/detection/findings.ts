import {
  type DetectorName,
  type FindingCheck,
  FLAPPING,
  type RelatedFinding,
  type Severity,
} from "../../contract/domain/mod.ts";
import { checkKind, type Service } from "../../integrations/host/mod.ts";
import { fingerprintFault, type Store } from "../../store/mod.ts";

/** A fault that a detector found. Ids and codes only, as it travels through workflows: texts stay in the store. */
export interface DetectedFinding {
  /** Name of the affected service; null: none is known. */
  readonly service: string | null;
  readonly detector: DetectorName;
  readonly check: FindingCheck;
  /** Kind of fault, without names: refused, disk_full, expired, brute_force, … */
  readonly code: string;
  /** 16 hex characters, the same for the same fault. */
  readonly fingerprint: string;
  readonly severity: Severity;
  /** ISO 8601. */
  readonly observed_at: string;
  /** Place that looks at it again and repairs it; absent: that of its service. */
  readonly place?: string;
  /** Findings that it probably causes. */
  readonly related?: readonly RelatedFinding[];
}

/** A service fails its check. */
export type ServiceFinding = DetectedFinding & {
  readonly service: string;
  readonly check: "http" | "tcp" | "command";
};

/** Code of a slow service. */
const SLOW = "slow";
/** Codes of faults other than that a service fails, which is found while one of these waits for people. */
const OWN_FAULTS: ReadonlySet<string> = new Set([SLOW, FLAPPING]);

/** Creates the finding that a service fails its check, or passes it slowly. */
export async function createServiceFinding(
  store: Store,
  { name, check }: Service,
  code: string,
): Promise<ServiceFinding> {
  const kind = checkKind(check!);
  const fault = OWN_FAULTS.has(code) ? [name, kind, code] : [name, kind];
  return {
    service: name,
    detector: "service_probes",
    check: kind,
    code,
    fingerprint: await fingerprintFault(store, ...fault),
    severity: code === SLOW ? "medium" : "high",
    observed_at: new Date().toISOString(),
  };
}
