import type { Knex } from "knex";
import * as ledger from "./0001_ledger.ts";
import * as platform from "./0002_platform.ts";
import * as bytes from "./0003_bytes.ts";
import * as anchors from "./0004_anchors.ts";
import * as log from "./0005_log.ts";
import * as scrub from "./0006_scrub.ts";
import * as imports from "./0007_imports.ts";
import * as knowledge from "./0008_knowledge.ts";
import * as policies from "./0009_guard_policies.ts";
import * as cmdb from "./0010_cmdb.ts";
import * as detection from "./0011_detection.ts";
import * as runbooks from "./0012_runbooks.ts";
import * as approvals from "./0013_approvals.ts";
import * as webhooks from "./0014_webhooks.ts";
import * as append from "./0015_append.ts";
import * as governance from "./0016_governance.ts";
import * as serviceNames from "./0018_service_names.ts";
import * as learning from "./0019_learning.ts";
import * as a2a from "./0017_a2a.ts";
import * as callsLetIn from "./0020_calls_let_in.ts";
import * as governanceFile from "./0021_governance_file.ts";
import * as approvalVoices from "./0022_approval_voices.ts";
import * as ticketSightings from "./0023_ticket_sightings.ts";
import * as callTraces from "./0024_call_traces.ts";
import * as callsLetInFaster from "./0025_calls_let_in_faster.ts";
import * as askedFor from "./0026_asked_for.ts";
import * as governanceRevision from "./0027_governance_revision.ts";

/** Every migration by name, in the order in which they run. Never changed once released; only added to. */
export const migrations: Readonly<Record<string, (trx: Knex) => Promise<void>>> = {
  "0001_ledger": ledger.up,
  "0002_platform": platform.up,
  "0003_bytes": bytes.up,
  "0004_anchors": anchors.up,
  "0005_log": log.up,
  "0006_scrub": scrub.up,
  "0007_imports": imports.up,
  "0008_knowledge": knowledge.up,
  "0009_guard_policies": policies.up,
  "0010_cmdb": cmdb.up,
  "0011_detection": detection.up,
  "0012_runbooks": runbooks.up,
  "0013_approvals": approvals.up,
  "0014_webhooks": webhooks.up,
  "0015_append": append.up,
  "0016_governance": governance.up,
  "0017_a2a": a2a.up,
  "0018_service_names": serviceNames.up,
  "0019_learning": learning.up,
  "0020_calls_let_in": callsLetIn.up,
  "0021_governance_file": governanceFile.up,
  "0022_approval_voices": approvalVoices.up,
  "0023_ticket_sightings": ticketSightings.up,
  "0024_call_traces": callTraces.up,
  "0025_calls_let_in_faster": callsLetInFaster.up,
  "0026_asked_for": askedFor.up,
  "0027_governance_revision": governanceRevision.up,
};
