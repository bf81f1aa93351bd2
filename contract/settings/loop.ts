import { z } from "zod";
import { count, networks, text } from "./_kinds.ts";

/** Services and hosts that are watched, the rules that judge them, and approvals. */
export const LOOP_SETTINGS = {
  SEALOOP_SERVICES: text(
    "File of the services to watch; unset: sealoop.services.yaml in the data folder",
  ),
  SEALOOP_DETECTORS: text(
    "File that configures the detectors; unset: sealoop.detectors.yaml in the data folder",
  ),
  SEALOOP_SWEEP_SECONDS: z.coerce.number().int().min(5).max(86400).optional()
    .describe("Seconds between sweeps; unset: the schedule's own in temporal.yaml"),
  SEALOOP_RUNBOOKS: text("Folder of your own runbooks; unset: runbooks in the data folder"),
  SEALOOP_SCRIPTS: text(
    "Folder of your own scripts for devices; unset: scripts in the data folder",
  ),
  SEALOOP_POLICY: text(
    "File of the guardrails' policy; unset: sealoop.policy.yaml in the data folder",
  ),
  SEALOOP_GOVERNANCE: text(
    "File of the governance policy; unset: sealoop.governance.yaml in the data folder",
  ),
  SEALOOP_SHIELD: text(
    "File of the policies that devices are checked by; unset: sealoop.shield.yaml in the data folder",
  ),
  SEALOOP_ADVISORIES: text(
    "File of advisories in the OSV form, that security scans hold the installed packages against",
  ),
  SEALOOP_DISCOVERY_ALLOW: networks(
    "Networks besides loopback in which hosts may be discovered, and ways between devices are measured, as 10.1.0.0/16,…",
  ),
  SEALOOP_MESH_HOURS: z.coerce.number().int().min(0).max(8_760).default(24).describe(
    "Hours until a device measures its ways to others again, in the networks of SEALOOP_DISCOVERY_ALLOW; 0: on demand alone",
  ),
  SEALOOP_APPROVERS: z.coerce.number().int().min(1).max(10).default(1)
    .describe("How many different people must approve what the incident loop asks for"),
  SEALOOP_APPROVAL_EXPIRES_SECONDS: z.coerce.number().int().min(1).max(31_536_000).default(259_200)
    .describe("Seconds until an approval that nobody decides about expires"),
  SEALOOP_APPROVAL_ESCALATE_SECONDS: count(
    3_600,
    "Seconds without a decision until people are told of an approval once more; 0: they are not",
  ),
};
