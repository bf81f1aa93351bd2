import type { Severity, Text } from "../../contract/domain/mod.ts";

/** A fault of a part of the platform. */
export interface PlatformFault {
  readonly code: string;
  /** Affected part of the platform. */
  readonly service: string;
  readonly severity: Severity;
  readonly summary: Text;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Tells faults of one aspect apart: the same is the same fault. */
  readonly which?: string;
}
