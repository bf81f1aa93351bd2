import { SERVERS, type TableRights, WORKING } from "./grantees.ts";

/**
 * Columns that a command has when it is asked for. The worker issues it, after it has decided about it by itself, and its device
 * states the rest.
 */
const ORDERED =
  "id, device_id, argv, account, timeout_seconds, output_bytes, read_only, script, expires_at, description, " +
  "requested_by, requested_by_key, approval_id, needed, grounds, script_id, status, request, " +
  "instead_of";
/** Rights on the tables of devices and their commands. */
export const DEVICE_TABLES: TableRights = {
  // Devices. Machines enrol at the gateway; people give tokens, and name approvers.
  tenant_tokens: [
    ["SELECT", ...WORKING, "operator", "crossing"],
    ["INSERT (id, token_hash, expires_at), UPDATE (revoked_at)", "gateway", "worker", "operator"],
  ],
  devices: [
    ["SELECT (id)", "engine"], // the guardrails know them as targets
    ["SELECT", ...WORKING, "operator", "crossing"],
    [
      "INSERT (id, name, platform, public_key, runner_key, receipt_id, approvers_version, enrolment), " +
      "UPDATE (enrolment, approvers_version, approvers_refused)",
      "gateway",
    ],
    ["UPDATE (status, quarantine, replaces)", "gateway", "worker", "operator"],
  ],
  device_states: [
    ["SELECT", ...WORKING, "operator", "crossing"],
    ["INSERT, UPDATE", "gateway"],
    ["UPDATE (online_since, returned)", "worker"],
    ["UPDATE (counter, journal_seq, journal_head)", "operator", "worker"],
    ["UPDATE (challenge, challenge_counter)", "operator"],
  ],
  device_inventories: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "gateway"]],
  split_views: [["SELECT", ...WORKING, "operator"], ["INSERT", "gateway"]],
  heartbeat_batches: [["SELECT", ...WORKING, "operator"], ["INSERT, DELETE", "worker"]],
  gateway_watch: [["SELECT", ...WORKING, "operator"], ["INSERT, UPDATE", "worker"]],
  used_enrolment_codes: [["SELECT, INSERT (nonce, device_id)", "gateway"]],
  tenant_approvers: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT (version, approvers, signatures, receipt_id)", "operator"],
  ],
  // Commands: servers ask, the worker issues, and the gateway hears of devices what became of them.
  scripts: [["SELECT", ...WORKING, "operator"], ["INSERT, UPDATE", "worker"]],
  device_commands: [
    ["SELECT", ...WORKING, "operator"],
    [`INSERT (${ORDERED}), DELETE`, ...SERVERS],
    [
      "UPDATE (status, code, offered_at, begun_receipt, begun_at, ended_receipt, ended_at, ended_by, exit_code, " +
      "output_sha256, output)",
      "gateway",
    ],
    ["INSERT, UPDATE, DELETE", "worker"],
  ],
  device_statements: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT (device_id, sequence, command_id, body, salt, receipt_id)", "gateway"],
    ["DELETE", "worker"],
  ],
};
