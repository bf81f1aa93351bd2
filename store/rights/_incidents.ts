import { EVERYONE, READING, SERVERS, type TableRights, WORKING } from "./grantees.ts";

/** Columns that a new approval has. The others say how it was decided, which is the worker's to write. */
const ASKED =
  "id, subject, ticket_id, description, action, action_sha256, action_commitment, action_salt, action_group, " +
  "grounds, requested_by, requested_by_key, needed, expires_in_seconds, escalate_after_seconds, asking_run, " +
  "instead_of";
/** Columns that a call has when it is held. The others say what became of it. */
const HELD =
  "approval_id, decision_id, door, tool, operation, input, action_sha256, key_id, address";

/** Columns of a ticket that people's work on it changes. */
const TICKET_WORK =
  "severity, category, status, phase, escalated, outcome, resolution, receipt_id, resolved_at, " +
  "acknowledged_by, acknowledged_at, taken_by, taken_at, handed_back_at";

/** Rights on the tables of services, incidents, knowledge, approvals, governance and models. */
export const INCIDENT_TABLES: TableRights = {
  // Services and incidents
  services: [["SELECT", ...READING, "crossing"], ["INSERT, UPDATE, DELETE", "worker"]],
  places: [["SELECT", ...READING], [
    "INSERT (name, public_key), UPDATE (heard_at, public_key)",
    "worker",
  ]],
  public_services: [["SELECT, INSERT, UPDATE", "worker"]],
  service_edges: [["SELECT", ...READING], ["INSERT, UPDATE, DELETE", "worker"]],
  // Which run works on a ticket, the worker alone says.
  tickets: [
    ["SELECT", ...READING, "crossing"],
    [`INSERT, UPDATE (${TICKET_WORK})`, ...SERVERS],
    ["INSERT, UPDATE", "worker"],
  ],
  ticket_events: [["SELECT", ...READING, "crossing"], ["INSERT", ...WORKING]],
  ticket_events_id_seq: [["SELECT", ...WORKING]],
  ticket_sightings: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "worker"]],
  observations: [["SELECT", ...READING], ["INSERT", "worker"]],
  composed_texts: [["SELECT", ...WORKING], ["INSERT (sha256, quoted)", ...READING]],
  // What permits a repair, and what became of it: the worker's alone
  repair_verdicts: [["SELECT, INSERT", "worker"]],
  effects: [["SELECT", ...READING], ["INSERT, UPDATE", "worker"]],
  open_acts: [["SELECT, INSERT, DELETE", "worker"]],
  alert_silences: [["SELECT", ...WORKING], ["INSERT, UPDATE, DELETE", "worker"]],
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
      "INSERT (id, approval_id, move, key_id, reason, signature, statement, offer), " +
      "UPDATE (move, reason, signature, statement, offer, refused)",
      "gateway",
    ],
    ["UPDATE (number, refused)", "worker"],
  ],
  held_calls: [
    ["SELECT", ...WORKING],
    [`INSERT (${HELD}), UPDATE (collected_at, input, output), DELETE`, ...SERVERS],
    ["INSERT, UPDATE", "worker"],
  ],
  // From an act that a server's call has noted nothing is done until the worker has decided about the call itself.
  call_effects: [
    ["SELECT, INSERT (decision_id, ids, output)", ...SERVERS],
    ["SELECT, INSERT, UPDATE (act_ended), DELETE", "worker"],
  ],
  idempotent_calls: [
    ["SELECT, INSERT, UPDATE, DELETE", ...WORKING],
    ["SELECT, DELETE", "operator"],
  ],

  // Standing grants: the gateway takes them from people, and whoever decides about acts counts their uses.
  grants: [
    ["SELECT", ...WORKING, "operator"],
    [
      "INSERT (id, terms, signed, made_by_key, approval_id, receipt_id, expires_at), UPDATE (revoked_at, revoked_by)",
      "gateway",
    ],
  ],
  grant_uses: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT (grant_id, number, act)", ...WORKING],
  ],

  // Governance: rules come from files and from the operator's commands.
  guard_policies: [["SELECT", ...READING, "crossing"], ["INSERT", "engine"]],
  governance_policies: [["SELECT", ...WORKING, "operator"], ["INSERT", "worker", "operator"]],
  shield_policies: [["SELECT", ...WORKING, "operator"], ["INSERT", "worker"]],
  model_policies: [["SELECT", ...WORKING, "operator"], ["INSERT", "worker"]],
  people_policies: [["SELECT", ...WORKING, "operator", "crossing"], ["INSERT", "worker"]],
  shared_secrets: [["SELECT, INSERT (name, salt, fingerprint)", ...WORKING, "engine"]],
  settings_files: [
    ["SELECT", ...READING, "crossing"],
    ["INSERT, UPDATE", "gateway", "worker", "engine", "operator"],
  ],
  config_versions: [
    ["SELECT", ...READING, "crossing"],
    [
      "INSERT (file, place, version, sha256, content, from_place, from_path, put_by, receipt_id)",
      "worker",
      "engine", // of the guardrails' policy alone
      "operator",
    ],
  ],
  governance_stops: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT, DELETE", "gateway", "worker", "operator"], // the gateway sets the one of the flag read_only
  ],
  governance_decisions: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT", "crossing"],
    ["UPDATE (settled)", "worker"],
  ],

  // Uses of language models. The servers serve callers, the worker runs approved calls, and settles what was lost.
  model_spending: [
    ["SELECT, INSERT, UPDATE (tokens, cost_micro)", ...WORKING],
    ["DELETE", "worker"],
  ],
  model_uses: [
    ["SELECT", "crossing"],
    [
      "SELECT, INSERT, UPDATE (state, outcome, model, input_tokens, output_tokens, cost_micro, ended_at)",
      ...WORKING,
    ],
    ["DELETE", "worker"],
  ],
  // Flags are set over REST, or by calls that were approved.
  flags: [["SELECT", ...WORKING, "operator"], ["INSERT, UPDATE", "gateway", "worker"]],
  // Each process tells of itself; a policy keeps it to its own role, and all are shown to the gateway alone.
  processes: [
    ["SELECT, INSERT, UPDATE, DELETE", ...EVERYONE],
    ["SELECT (host, heard_at)", "crossing"],
  ],
  // Spans. A function adds those of calls.
  spans: [
    ["SELECT, INSERT, UPDATE (exported)", ...WORKING],
    ["SELECT, INSERT, DELETE", "crossing"],
  ],
  span_export: [
    ["SELECT", ...WORKING],
    ["UPDATE (exported_through, spans, last_ok_at, last_error, last_error_at)", "worker"],
  ],
  // What probes of integrations found last
  integration_health: [["SELECT, INSERT, UPDATE", ...WORKING]],
};
