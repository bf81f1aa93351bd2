import { ERASABLE } from "./_erasable.ts";
import type { FunctionOwner, Role } from "./roles.ts";

/** A role that rights are granted to. The owner has all rights on its tables by itself. */
export type Grantee = Exclude<Role, "owner"> | FunctionOwner;

/** Privileges as SQL writes them, and the roles that have them. */
export type Grant = readonly [privileges: string, ...grantees: readonly Grantee[]];

/** Roles of the processes that serve callers. */
const SERVERS = ["gateway", "tools"] as const;
/** Roles of the processes that serve callers or work for them. */
const WORKING = [...SERVERS, "worker"] as const;
/** Roles of the processes that read what is private. */
const READING = [...WORKING, "engine", "operator"] as const;
const EVERYONE = [...READING, "sequencer", "ledger"] as const;

/** Columns that a new approval has. The others say how it was decided, which is the worker's to write. */
const ASKED =
  "id, subject, ticket_id, description, action, action_sha256, action_commitment, action_salt, grounds, " +
  "requested_by, requested_by_key, needed, expires_in_seconds, escalate_after_seconds, asking_run";
/** Columns that a command has when it is asked for. The worker issues it, and its device states the rest. */
const ORDERED =
  "id, device_id, argv, account, timeout_seconds, output_bytes, read_only, script, expires_at, description, " +
  "requested_by, requested_by_key, approval_id, needed, grounds, status";
/** Columns that a call has when it is held. The others say what became of it. */
const HELD =
  "approval_id, decision_id, door, tool, operation, input, action_sha256, key_id, address";

/**
 * Rights on each table, by role: what is not listed is not granted. `migrate` grants exactly these, the page
 * `docs/rights.md` is made from them, and a test tries them all.
 */
export const RIGHTS: Readonly<Record<string, readonly Grant[]>> = withErasing({
  // The ledger. Receipts are appended by a function.
  receipts: [["SELECT", ...EVERYONE], ["SELECT, INSERT", "ledgerWriter"]],
  ledger_head: [["SELECT", ...EVERYONE], ["SELECT, UPDATE", "ledgerWriter"]],
  ledger_keys: [["SELECT", ...EVERYONE], ["SELECT, INSERT", "ledgerWriter"]],
  seal_requests: [
    ["SELECT", ...READING, "sequencer", "crossing", "ledgerWriter"],
    ["INSERT", "crossing", "ledgerWriter"], // the ids of imported receipts are taken, too
    ["UPDATE (request_hash)", "crossing"],
    ["SELECT (id)", "ledger"],
  ],
  seal_outbox: [
    ["SELECT", ...READING],
    ["SELECT, DELETE", "sequencer", "ledgerWriter"],
    ["INSERT", "crossing"],
    ["SELECT (id)", "ledger"],
  ],
  seal_refusals: [
    ["SELECT", ...READING],
    ["SELECT, INSERT", "sequencer"],
    ["SELECT (id)", "ledger"],
  ],
  ledger_trouble: [
    ["SELECT", ...READING],
    ["SELECT, INSERT, UPDATE, DELETE", "sequencer"],
  ],
  seal_categories: [["SELECT", "crossing"]],
  evidence: [["SELECT, INSERT, DELETE", "crossing"], ["SELECT, DELETE", "operator"]],
  log_tiles: [["SELECT", ...EVERYONE], ["INSERT", "sequencer"]],
  log_checkpoint: [["SELECT", ...EVERYONE], ["INSERT, UPDATE", "sequencer"]],
  log_publishing: [["SELECT", ...EVERYONE], ["INSERT, UPDATE", "sequencer"]],
  ledger_days: [["SELECT", ...EVERYONE]],
  ledger_categories: [["SELECT", ...EVERYONE]],
  // The range and the root of a batch never change.
  anchors: [
    ["SELECT", ...READING, "ledger"],
    [
      "INSERT, UPDATE (state, calendars, proof, attempts, last_error, submitted_at, confirmed_at, " +
      "block_height, block_header, block_hash, block_time)",
      "worker",
    ],
  ],
  anchor_head: [["SELECT", ...READING, "ledger"], ["UPDATE", "worker"]],
  ledger_scrub: [["SELECT", ...READING, "ledger"], ["INSERT, UPDATE", "worker"]],
  ledger_breaks: [["SELECT", ...READING, "ledger"], ["INSERT, UPDATE", "worker"]],
  ledger_import: [
    ["SELECT", ...READING, "ledger"],
    ["SELECT, INSERT (file_sha256, size), DELETE", "sequencer"], // a function finishes it
    ["SELECT, UPDATE", "ledgerWriter"],
  ],
  ledger_import_receipts: [
    ["SELECT, INSERT, TRUNCATE", "sequencer"],
    ["SELECT, TRUNCATE", "ledgerWriter"],
  ],

  // Tenants, and their keys, which functions issue and change
  tenants: [
    ["SELECT", ...READING],
    ["SELECT, INSERT", "crossing"],
    ["INSERT (id, name, alias, domains, status)", "gateway", "worker"],
    ["UPDATE (status, idp_id, idp_synced_at)", "worker"],
  ],
  keys: [
    ["SELECT", ...WORKING, "operator"],
    ["SELECT, INSERT, UPDATE (expires_at, revoked_at, last_used_at)", "crossing"],
  ],
  platform_secret: [["SELECT", ...READING]], // makes ids of private texts
  usage: [["SELECT, INSERT, UPDATE", "crossing"], ["SELECT, DELETE", "worker"]],

  // Services and incidents
  services: [["SELECT", ...READING, "crossing"], ["INSERT, UPDATE, DELETE", "worker"]],
  service_edges: [["SELECT", ...READING], ["INSERT, UPDATE, DELETE", "worker"]],
  tickets: [["SELECT", ...READING], ["INSERT, UPDATE", ...WORKING]],
  ticket_events: [["SELECT", ...READING], ["INSERT", ...WORKING]],
  ticket_events_id_seq: [["SELECT", ...WORKING]],
  ticket_sightings: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "worker"]],
  effects: [["SELECT", ...READING], ["INSERT, UPDATE", "worker"]],
  detections: [["SELECT, INSERT, UPDATE", ...WORKING]], // anybody may have a detector run
  findings: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "worker"]],
  probe_history: [["SELECT", ...SERVERS], ["SELECT, INSERT, UPDATE, DELETE", "worker"]],
  log_places: [["SELECT", ...SERVERS], ["SELECT, INSERT, UPDATE, DELETE", "worker"]],
  runbooks: [["SELECT", ...WORKING], ["INSERT, UPDATE", "worker"]],
  runbook_commands: [["SELECT", ...WORKING], ["INSERT, UPDATE", "worker"]],
  runbook_values: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "worker"]],

  // Knowledge. People teach through the tool server, or through the worker after an approval.
  knowledge: [
    ["SELECT", ...READING],
    ["INSERT, UPDATE", "tools", "worker", "engine"],
    ["UPDATE (title, content, current)", "operator"],
  ],
  knowledge_terms: [
    ["SELECT", ...READING],
    ["INSERT, UPDATE, DELETE", "tools", "worker", "engine"],
    ["DELETE", "operator"],
  ],
  knowledge_words: [
    ["SELECT", ...READING],
    ["INSERT, UPDATE, DELETE", "tools", "worker", "engine"],
    ["UPDATE (passages), DELETE", "operator"],
  ],
  learning_items: [
    ["SELECT", ...WORKING, "engine"],
    ["INSERT", "engine"],
    ["UPDATE", "tools", "worker"],
  ],

  // Approvals: servers ask, the gateway takes votes, the worker decides by them. One that has moves stays.
  approvals: [
    ["SELECT", ...WORKING, "operator", "crossing"],
    [`INSERT (${ASKED}), DELETE`, ...SERVERS],
    ["INSERT, UPDATE, DELETE", "worker"],
  ],
  approval_moves: [["SELECT", ...WORKING, "operator"], ["INSERT", "worker"]],
  approval_votes: [
    ["SELECT", "gateway", "worker", "operator"],
    [
      "INSERT (id, approval_id, move, key_id, reason, signature), UPDATE (move, reason, signature, refused)",
      "gateway",
    ],
    ["UPDATE (number, refused)", "worker"],
  ],
  held_calls: [
    ["SELECT", ...WORKING],
    [`INSERT (${HELD}), UPDATE (collected_at, input, output), DELETE`, ...SERVERS],
    ["INSERT, UPDATE", "worker"],
  ],
  call_effects: [["SELECT, INSERT", ...SERVERS], ["SELECT, INSERT, DELETE", "worker"]],
  idempotent_calls: [
    ["SELECT, INSERT, UPDATE, DELETE", ...WORKING],
    ["SELECT, DELETE", "operator"],
  ],

  // Governance: rules come from files and from the operator's commands.
  guard_policies: [["SELECT", ...READING, "crossing"], ["INSERT", "engine"]],
  governance_policies: [["SELECT", ...WORKING, "operator"], ["INSERT", "worker", "operator"]],
  shield_policies: [["SELECT", ...WORKING, "operator"], ["INSERT", "worker"]],
  model_policies: [["SELECT", "gateway", "worker", "operator"], ["INSERT", "worker"]],
  governance_file: [["SELECT", ...WORKING, "operator"], ["INSERT, UPDATE", "worker", "operator"]],
  governance_stops: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT, DELETE", "gateway", "worker", "operator"], // the gateway sets the one of the flag read_only
  ],
  governance_decisions: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT", "crossing"],
    ["UPDATE (settled)", "worker"],
  ],

  // Uses of language models. The gateway serves callers, the worker runs approved calls, and settles what was lost.
  model_spending: [
    ["SELECT, INSERT, UPDATE (tokens, cost_micro)", "gateway", "worker"],
    ["DELETE", "worker"],
  ],
  model_uses: [
    [
      "SELECT, INSERT, UPDATE (state, outcome, model, input_tokens, output_tokens, cost_micro, ended_at)",
      "gateway",
      "worker",
    ],
    ["DELETE", "worker"],
  ],
  // Flags are set over REST, or by calls that were approved.
  flags: [["SELECT", ...WORKING, "operator"], ["INSERT, UPDATE", "gateway", "worker"]],
  // What probes of integrations found last
  integration_health: [["SELECT, INSERT, UPDATE", ...WORKING]],

  // Messages to others
  webhooks: [ // their secrets are encrypted
    ["SELECT, INSERT, UPDATE (events, secret, created_by, disabled_at)", ...WORKING],
  ],
  webhook_deliveries: [
    ["SELECT", ...WORKING],
    ["INSERT (id, webhook_id, ticket_id, type, body)", ...SERVERS],
    ["INSERT, UPDATE, DELETE", "worker"],
  ],
  a2a_tasks: [["SELECT, INSERT, UPDATE, DELETE", ...WORKING]],
  // Texts of payloads: whoever starts a run or works on it
  private_texts: [
    ["SELECT, INSERT (id, text), UPDATE (used_at)", ...WORKING],
    ["DELETE", "worker"],
  ],
  // The feed. A function gives positions.
  messages: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT (id, key, channel, kind, sender, subject, text, refs, severity, service)", ...WORKING],
    ["SELECT, UPDATE (position)", "crossing"],
  ],
  message_counts: [
    ["SELECT", "gateway", "worker", "operator"],
    ["SELECT, INSERT, UPDATE", "crossing"],
  ],
  // Conversations with agents: callers ask through the gateway, or through the worker after an approval
  conversations: [
    ["SELECT", "gateway", "worker"],
    ["INSERT (id, key_id, agent_id), UPDATE (messages, last_at), DELETE", "gateway", "worker"],
  ],
  conversation_messages: [
    ["SELECT", "gateway", "worker"],
    ["INSERT (id, conversation_id, number, role, text), DELETE", "gateway"],
    ["INSERT, UPDATE (attempts), DELETE", "worker"],
  ],
  agent_notes: [["SELECT, INSERT (id, agent_id, text, author)", "gateway", "worker"]],
  message_routing: [["SELECT, INSERT, UPDATE", "worker"]],
  message_deliveries: [
    ["SELECT", "gateway", "worker", "operator"],
    ["INSERT (message_id, number, ordering, channel, kind)", "gateway"],
    ["INSERT, UPDATE (state, attempts, may_have_arrived, code, started_at, ended_at)", "worker"],
  ],

  // Contacts and deals. Whoever is erased is erased by the operator; people alone allow mail again.
  contacts: [["SELECT, INSERT, UPDATE", ...WORKING], ["SELECT, DELETE", "operator"]],
  suppressions: [
    ["SELECT, INSERT", ...WORKING, "operator"],
    ["DELETE", "gateway", "worker"],
  ],
  deals: [["SELECT, UPDATE", ...WORKING], ["INSERT", "gateway", "worker"]],
  deal_stays: [["SELECT, INSERT, UPDATE (left_at)", ...WORKING]],
  crm_activities: [["SELECT, INSERT", ...WORKING, "operator"]],
  partner_applications: [
    ["SELECT, INSERT, UPDATE (status, changed_at, version, receipt_id)", "gateway", "worker"],
    ["SELECT, DELETE", "operator"],
  ],
  partner_applications_id_seq: [["USAGE", "gateway", "worker"]],
  // The board. The worker tells of what is due, and runs approved calls.
  board_tasks: [
    ["SELECT", ...WORKING],
    [
      "INSERT, UPDATE (title, description, status, assignee, agent_id, due_at, due_told_at, ticket_id, version, " +
      "changed_at, deleted_at)",
      "gateway",
      "worker",
    ],
  ],
  // Calendars. The tool server books appointments, and takes back one whose invitation can't be sent.
  calendar_events: [
    ["SELECT, INSERT", ...WORKING],
    ["UPDATE (sequence, updated_at, cancelled_at)", ...WORKING],
    ["UPDATE (skipped, expanded_until)", "gateway", "worker"],
    ["SELECT", "crossing"],
  ],
  calendar_occurrences: [
    ["SELECT, INSERT, DELETE", ...WORKING],
    ["SELECT", "crossing"],
  ],
  calendar_links: [
    ["SELECT", "gateway"],
    ["SELECT, INSERT, UPDATE (generation, renewed_at)", "operator"],
  ],

  // Mail. Workers alone send it, and receive it.
  emails: [
    ["SELECT, INSERT, DELETE", ...WORKING], // one whose workflow never began may go
    ["UPDATE", "worker"],
    ["SELECT, DELETE", "operator"],
  ],
  email_replies: [
    ["SELECT", ...WORKING],
    ["INSERT, UPDATE", "worker"],
    ["SELECT, DELETE", "operator"],
  ],

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
  ],
  device_inventories: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "gateway"]],
  split_views: [["SELECT", ...WORKING, "operator"], ["INSERT", "gateway"]],
  heartbeat_batches: [["SELECT", ...WORKING, "operator"], ["INSERT, DELETE", "worker"]],
  gateway_watch: [["SELECT", ...WORKING], ["INSERT, UPDATE", "worker"]],
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
  ],

  migrations: [],
  migrations_lock: [],
});

/** Adds the rights by which the operator erases a person's texts. */
function withErasing(
  rights: Record<string, readonly Grant[]>,
): Record<string, readonly Grant[]> {
  for (const { table, texts = [], json = [], set = {} } of ERASABLE) {
    const columns = [...texts, ...json, ...Object.keys(set)].join(", ");
    rights[table] = [...rights[table]!, [`SELECT, UPDATE (${columns})`, "operator"]];
  }
  return rights;
}

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
  find_keys: { runsAs: "crossing", callers: SERVERS },
  keys_by_id: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  all_keys: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  touch_keys: { runsAs: "crossing", callers: SERVERS },
  delete_evidence: { runsAs: "crossing", callers: ["operator"] },
  delete_old_evidence: { runsAs: "crossing", callers: ["worker", "operator"] },
  issue_key: { runsAs: "crossing", callers: ["gateway", "worker", "operator"] },
  expire_key: { runsAs: "crossing", callers: ["operator"] },
  revoke_key: { runsAs: "crossing", callers: ["gateway", "worker", "operator"] },
  check_key_receipt: { callers: ["crossing"] },
  request_key_receipt: { callers: ["crossing"] },
  record_decisions: { runsAs: "crossing", callers: SERVERS },
  take_usage: { runsAs: "crossing", callers: WORKING },
  approval_owner: { runsAs: "crossing", callers: WORKING },
  give_position: { runsAs: "crossing", callers: [] },
  active_freezes: { runsAs: "crossing", callers: READING },
  active_maintenance: { runsAs: "crossing", callers: ["worker"] },
  all_tenants: { runsAs: "crossing", callers: [...WORKING, "operator"] },
  find_tenant_token: { runsAs: "crossing", callers: ["gateway"] },
  find_tenant_token_by_id: { runsAs: "crossing", callers: ["gateway"] },
  heartbeats_since: { runsAs: "crossing", callers: ["worker"] },
  find_device: { runsAs: "crossing", callers: WORKING },
  tenant_ids: { runsAs: "crossing", callers: READING },
  watched_tenants: { runsAs: "crossing", callers: READING },
  ensure_tenant: { runsAs: "crossing", callers: ["worker", "crossing"] },
  wall_off: { callers: [] },
  count_receipts: { callers: [] },
};

/** Categories of a call's own receipts. */
const OF_CALLS = ["api_call", "tool_call", "api_classification", "api_seal", "guardrail_verdict"];
/** Categories of the receipts of operations that any process runs which serves callers or runs what was approved. */
const OF_OPERATIONS = [
  "ticket_opened",
  "ticket_closed",
  "learning_receipt",
  "webhook_registered",
  "webhook_removed",
  "contact_changed",
  "consent_changed",
  "deal_changed",
  "partner_application",
  "calendar_booked",
  "calendar_cancelled",
  "task_created",
  "task_changed",
  "task_deleted",
];

/**
 * Categories of receipts that each role may request. Receipts of keys (`key_issued`, `key_replaced`, `key_revoked`) are
 * requested by the functions that issue and change keys, and by nothing else.
 */
export const SEAL_CATEGORIES: Readonly<Partial<Record<Grantee, readonly string[]>>> = {
  gateway: [
    ...OF_CALLS,
    ...OF_OPERATIONS,
    "governance_decision",
    "config_change",
    "agent_note",
    "device_quarantined",
    "split_view",
    "agent_release",
    "device_enrolled",
    "tenant_created",
    "device_command",
    "data_egress",
    "model_call",
  ],
  tools: [...OF_CALLS, ...OF_OPERATIONS, "governance_decision"],
  worker: [
    ...OF_CALLS,
    ...OF_OPERATIONS,
    "tenant_created",
    "tenants_synced",
    "device_replaced",
    "platform_health_check",
    "device_heartbeats",
    "self_heal",
    "escalation",
    "email_intended",
    "email_ended",
    "email_received",
    "email_sequence",
    "auto_reply_sent",
    "repair_intended",
    "undo_intended",
    "repair_held",
    "undo_held",
    "platform_scan",
    "device_discovery",
    "approval",
    "governed_act",
    "agent_note",
    "agent_asked",
    "agent_answered",
    "model_call",
    "anchor_confirmed",
    "ledger_break",
    "config_change",
    "runbook_change",
    "governance_stop",
    "device_command",
    "script_release",
  ],
  engine: ["config_change", "learning_receipt"],
  operator: [
    "tenant_token",
    "tenant_approvers",
    "device_quarantined",
    "device_released",
    "config_change",
    "governance_stop",
    "calendar_link_renewed",
    "contact_erased",
  ],
};
