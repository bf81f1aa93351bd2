import type { DetectorName, FindingCheck, RelatedFinding, Severity } from "../domain/mod.ts";
import { checkKind, type Service } from "../integrations/host/mod.ts";
import { fingerprintFault, type Store } from "../store/mod.ts";

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
  /** Findings that it probably causes. */
  readonly related?: readonly RelatedFinding[];
}

/** A service fails its check. */
export type ServiceFinding = DetectedFinding & {
  readonly service: string;
  readonly check: "http" | "tcp" | "command";
};

/** Code of a slow service. That is another fault than a failing one, which is found while this one waits for people. */
const SLOW = "slow";

/** Creates the finding that a service fails its check, or passes it slowly. */
export async function createServiceFinding(
  store: Store,
  { name, check }: Service,
  code: string,
): Promise<ServiceFinding> {
  const kind = checkKind(check!);
  const fault = code === SLOW ? [name, kind, SLOW] : [name, kind];
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
