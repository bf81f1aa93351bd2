import { EVERYONE, READING, type TableRights, WORKING } from "./grantees.ts";
import { SECRETS } from "./secrets.ts";

/** Rights on the tables of the ledger, tenants, keys and limits. */
export const LEDGER_TABLES: TableRights = {
  // The ledger. Receipts are appended by a function.
  receipts: [["SELECT", ...EVERYONE], ["SELECT, INSERT", "ledgerWriter"]],
  ledger_head: [["SELECT", ...EVERYONE], ["SELECT, UPDATE", "ledgerWriter"]],
  ledger_keys: [["SELECT", ...EVERYONE], ["SELECT, INSERT", "ledgerWriter"]],
  ledger_recovery: [["SELECT, INSERT", "sequencer"]], // else the owner's role stores it
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
  receipt_names: [["SELECT", ...EVERYONE]],
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
    ["INSERT (id, name, alias, domains, idp_mode, status)", "gateway", "worker"],
    ["UPDATE (status, idp_mode, idp_id, idp_synced_at)", "worker"],
  ],
  keys: [
    ["SELECT", ...WORKING, "operator"],
    [
      "SELECT, INSERT, UPDATE (tier, scope, may_approve, expires_at, revoked_at, last_used_at)",
      "crossing",
    ],
  ],
  platform_secrets: Object.entries(SECRETS).map(([purpose, roles]) => [
    `SELECT (${purpose})`,
    ...roles,
  ]),
  usage: [["SELECT, INSERT, UPDATE", "crossing"], ["SELECT, DELETE", "worker"]],
};
