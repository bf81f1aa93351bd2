import type { LoopResult } from "./incidents.ts";

/** Matches names of services that drills create. A regular expression for JavaScript and for PostgreSQL. */
export const DRILL_SERVICE_PATTERN = "^(test|attack)-[0-9a-f]{8}$";

/** Ways to break the test service. */
export const SCENARIOS = ["crash", "hang", "wrong_answers", "disk_full"] as const;

/** A way to break the test service. */
export type Scenario = typeof SCENARIOS[number];

/** Practice attacks on a sandbox. */
export const ATTACKS = [
  "ssh_brute_force",
  "port_scan",
  "ransomware",
  "exfiltration",
  "crash_loop",
] as const;

/** A practice attack. */
export type AttackScenario = typeof ATTACKS[number];

/** Effects of a practice attack, all within its sandbox. */
export interface AttackCounts {
  /** Number of passwords tried. */
  readonly attempts: number;
  readonly ports_scanned: number;
  readonly files_altered: number;
  readonly files_restored: number;
  /** Bytes sent to the sandbox's own sink. */
  readonly bytes_out: number;
  readonly crashes: number;
}

/** A request for a test incident. */
export interface TestRequest {
  /** Id in the test service's name, 8 hex characters. */
  readonly id: string;
  readonly scenario: Scenario;
  readonly requested_by: string;
}

/** A request for a practice attack. */
export interface AttackRequest {
  /** Id in the sandbox's name, 8 hex characters. */
  readonly id: string;
  readonly scenario: AttackScenario;
  readonly requested_by: string;
}

/** Result of a practice attack. */
export interface AttackResult extends LoopResult {
  readonly scenario: AttackScenario;
  /** Name of the sandbox. */
  readonly service: string;
  /** Code of the detector's finding. */
  readonly found: string;
  /** Null: the sandbox had ended before it was asked. */
  readonly counts: AttackCounts | null;
}
