import { FilmFields } from "../../contract/records/mod.ts";
import { READING, SERVERS, type TableRights, WORKING } from "./grantees.ts";

/** Rights on the tables of messages, conversations, contacts, calendars, articles, films and mail. */
export const PEOPLE_TABLES: TableRights = {
  // Sign-in: the operator's commands make links, and the gateway takes them.
  sign_in_links: [
    ["INSERT (id, token_hash, key_id, expires_at, recovers)", "operator"],
    ["SELECT, UPDATE (used_at)", "crossing"],
    ["SELECT, DELETE", "worker"],
  ],
  sessions: [
    [
      "SELECT, INSERT (id, token_hash, key_id, expires_at, recovers), UPDATE (ended_at, id_token)",
      "gateway",
    ],
    ["SELECT", "crossing"],
    ["SELECT, DELETE", "worker"],
  ],
  people: [[
    "SELECT, INSERT (tenant_id, key_id, issuer, subject, groups), UPDATE (groups, signed_in_at)",
    "crossing",
  ]],
  provider_sign_ins: [["SELECT, INSERT, DELETE", "gateway"]],
  passkeys: [
    ["SELECT", "gateway", "operator"],
    [
      "INSERT (id, principal, name, credential_id, public_key, uses, receipt_id), UPDATE (revoked_at)",
      "gateway",
    ],
    ["SELECT, UPDATE (uses, last_used_at)", "crossing"],
    ["UPDATE (revoked_at)", "operator"],
  ],
  passkey_challenges: [
    ["SELECT, INSERT, DELETE", "gateway"],
    ["SELECT, DELETE", "worker"],
  ],
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
    ["INSERT (id, key, channel, kind, sender, subject, text, refs, severity, service)", ...READING],
    ["SELECT (tenant_id, id, key)", "engine"], // so that it tells once what it finds in its file
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

  // Articles: servers ask for them, the worker writes and deploys them.
  articles: [
    ["SELECT", ...WORKING, "operator"],
    [
      "INSERT (id, source_kind, source_id, keyword, slug, page_receipt_id, requested_by, requested_by_key), DELETE",
      "gateway",
    ],
    ["INSERT, UPDATE, DELETE", "worker"],
  ],
  pipeline_items: [
    ["SELECT", ...WORKING, "operator"],
    ["INSERT, UPDATE (stage, article_id, receipt_id, publishing, changed_at)", "gateway"],
    ["INSERT, UPDATE", "worker"],
  ],
  // Films, speech and transcripts: servers ask, the worker makes them.
  media_files: [
    ["SELECT, INSERT", ...WORKING],
    ["UPDATE (published_at)", "gateway", "worker"],
    ["DELETE", "worker"], // cards of posts
    ["SELECT", "crossing"],
    ["SELECT, DELETE", "operator"], // of a person who is erased
  ],
  video_projects: [
    [
      `SELECT, INSERT (id, kind, ${FilmFields.keyof().options.join(", ")}, requested_by)`,
      ...WORKING,
    ],
    ["UPDATE", "worker"],
  ],
  video_scenes: [
    ["SELECT, INSERT (project_id, n, heading, text, image, audio_id, incident)", ...WORKING],
    ["UPDATE", "worker"],
  ],
  audio_clips: [
    ["SELECT, INSERT (id, kind, title, text, voice, requested_by)", ...WORKING],
    ["UPDATE", "worker"],
  ],
  transcripts: [
    ["SELECT, INSERT (id, source, requested_by)", ...WORKING],
    ["UPDATE", "worker"],
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
};
