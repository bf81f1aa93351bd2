import type { FunctionOwner } from "../roles.ts";
import { EVERYONE, type Grantee, READING, SERVERS, WORKING } from "./grantees.ts";

/** A function of the database that not everybody may call. */
export interface FunctionRights {
  /** The role whose rights it runs with; absent: its caller's. */
  readonly runsAs?: FunctionOwner;
  /** Roles that may call it. */
  readonly callers: readonly Grantee[];
}

/** Functions that not everybody may call. Every function that runs with other rights than its caller's is here. */
export const FUNCTIONS: Readonly<Record<string, FunctionRights>> = {
  append_receipts: { runsAs: "ledgerWriter", callers: ["sequencer"] },
  introduce_keys: { runsAs: "ledgerWriter", callers: [] },
  settle_requests: { runsAs: "ledgerWriter", callers: ["sequencer"] },
  finish_import: { runsAs: "ledgerWriter", callers: ["sequencer"] },
  request_seals: { runsAs: "crossing", callers: [...READING, "crossing"] },
  add_seal_requests: { callers: ["crossing"] },
  check_seal_time: { callers: ["crossing"] },
  find_keys: { runsAs: "crossing", callers: SERVERS },
  keys_by_id: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  all_keys: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  touch_keys: { runsAs: "crossing", callers: SERVERS },
  take_sign_in_link: { runsAs: "crossing", callers: ["gateway"] },
  find_session: { runsAs: "crossing", callers: ["gateway"] },
  all_people: { runsAs: "crossing", callers: ["gateway", "worker"] },
  key_of_person: { runsAs: "crossing", callers: ["tools"] },
  add_person: { runsAs: "crossing", callers: ["gateway"] },
  note_sign_in: { runsAs: "crossing", callers: ["gateway"] },
  file_gives: { callers: ["crossing"] },
  change_person_key: { runsAs: "crossing", callers: ["gateway", "worker"] },
  find_passkey: { runsAs: "crossing", callers: WORKING },
  note_passkey_use: { runsAs: "crossing", callers: ["gateway"] },
  delete_evidence: { runsAs: "crossing", callers: ["operator"] },
  delete_old_evidence: { runsAs: "crossing", callers: ["worker", "operator"] },
  issue_key: { runsAs: "crossing", callers: ["gateway", "worker", "operator"] },
  expire_key: { runsAs: "crossing", callers: ["operator"] },
  revoke_key: { runsAs: "crossing", callers: ["gateway", "worker", "operator"] },
  check_key_receipt: { callers: ["crossing"] },
  request_key_receipt: { callers: ["crossing"] },
  record_decisions: { runsAs: "crossing", callers: SERVERS },
  tenant_counts: { runsAs: "crossing", callers: ["worker"] },
  record_spans: { runsAs: "crossing", callers: SERVERS },
  all_spans: { callers: [...WORKING, "crossing"] },
  spans_to_export: { runsAs: "crossing", callers: ["worker"] },
  prune_spans: { runsAs: "crossing", callers: ["worker"] },
  take_usage: { runsAs: "crossing", callers: WORKING },
  approval_owner: { runsAs: "crossing", callers: WORKING },
  give_position: { runsAs: "crossing", callers: [] },
  active_freezes: { runsAs: "crossing", callers: READING },
  active_maintenance: { runsAs: "crossing", callers: ["worker"] },
  all_tenants: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  find_tenant_token: { runsAs: "crossing", callers: ["gateway"] },
  find_tenant_token_by_id: { runsAs: "crossing", callers: ["gateway"] },
  find_published_file: { runsAs: "crossing", callers: ["gateway"] },
  heartbeats_since: { runsAs: "crossing", callers: ["worker"] },
  find_device: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  tenant_ids: { runsAs: "crossing", callers: READING },
  watched_tenants: { runsAs: "crossing", callers: READING },
  ensure_tenant: { runsAs: "crossing", callers: ["worker", "crossing"] },
  refused_settings_files: { runsAs: "crossing", callers: READING },
  config_in_force: { callers: [...READING, "crossing"] },
  config_drift: { runsAs: "crossing", callers: READING },
  count_standbys: { runsAs: "statistics", callers: [...READING, "sequencer"] },
  oldest_process: { callers: EVERYONE },
  wall_off: { callers: [] },
  count_receipts: { callers: [] },
  name_receipts: { callers: [] },
};
