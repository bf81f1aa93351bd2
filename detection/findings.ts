import type { DetectorName, FindingCheck, RelatedFinding, Severity } from "../domain/mod.ts";
import { checkKind, type Service } from "../integrations/host/mod.ts";
import { fingerprintFault } from "../store/mod.ts";

/** Something is wrong. Ids and codes only, as it travels through workflows: what it says in words stays in the store. */
export interface DetectedFinding {
  /** The service that is concerned; null: none that is known. */
  readonly service: string | null;
  readonly detector: DetectorName;
  readonly check: FindingCheck;
  /** What is wrong, without names: refused, disk_full, expired, brute_force, … */
  readonly code: string;
  /** 16 hex characters: the same fault has the same. */
  readonly fingerprint: string;
  readonly severity: Severity;
  /** ISO 8601. */
  readonly observed_at: string;
  /** What it is likely to be the cause of. */
  readonly related?: readonly RelatedFinding[];
}

/** A service fails its check. */
export type ServiceFinding = DetectedFinding & {
  readonly service: string;
  readonly check: "http" | "tcp" | "command";
};

/** Being slow is another fault than failing: that one must be found while the other waits for people. */
const SLOW = "slow";

/** The finding that a service fails its check, or passes it slowly. */
export function createServiceFinding({ name, check }: Service, code: string): ServiceFinding {
  const kind = checkKind(check!);
  return {
    service: name,
    detector: "service_probes",
    check: kind,
    code,
    fingerprint: code === SLOW ? fingerprintFault(name, kind, SLOW) : fingerprintFault(name, kind),
    severity: code === SLOW ? "medium" : "high",
    observed_at: new Date().toISOString(),
  };
}
