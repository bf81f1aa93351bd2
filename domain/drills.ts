import type { LoopResult } from "./incidents.ts";

/** Matches names of services that drills create. A regular expression for JavaScript and for PostgreSQL. */
export const DRILL_SERVICE_PATTERN = "^(test|attack)-[0-9a-f]{8}$";

/** Ways in which the test service can be broken. */
export const SCENARIOS = ["crash", "hang", "wrong_answers", "disk_full"] as const;

/** A way in which the test service can be broken. */
export type Scenario = typeof SCENARIOS[number];

/** Attacks that a sandbox can be put under. */
export const ATTACKS = [
  "ssh_brute_force",
  "port_scan",
  "ransomware",
  "exfiltration",
  "crash_loop",
] as const;

/** An attack that a sandbox can be put under. */
export type AttackScenario = typeof ATTACKS[number];

/** What an attack has done, all of it within its sandbox. */
export interface AttackCounts {
  /** Passwords that were tried. */
  readonly attempts: number;
  readonly ports_scanned: number;
  readonly files_altered: number;
  readonly files_restored: number;
  /** Bytes carried to the sandbox's own sink. */
  readonly bytes_out: number;
  readonly crashes: number;
}

/** A test incident that is asked for. */
export interface TestRequest {
  /** Names the test service, 8 hex characters. */
  readonly id: string;
  readonly scenario: Scenario;
  readonly requested_by: string;
}

/** A practice attack that is asked for. */
export interface AttackRequest {
  /** Names the sandbox, 8 hex characters. */
  readonly id: string;
  readonly scenario: AttackScenario;
  readonly requested_by: string;
}

/** How a practice attack went. */
export interface AttackResult extends LoopResult {
  readonly scenario: AttackScenario;
  /** The sandbox. */
  readonly service: string;
  /** Code of what the detector found. */
  readonly found: string;
  readonly counts: AttackCounts;
}
