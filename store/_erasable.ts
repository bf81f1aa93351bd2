/** The tables from which a person is erased. */
import { FILM_TEXTS } from "../contract/records/mod.ts";

/** A table whose rows may be about a contact. */
export interface ErasablePlace {
  readonly table: string;
  /** Columns of plain text. */
  readonly texts?: readonly string[];
  /** Columns of JSON, whatever their type. */
  readonly json?: readonly string[];
  /** Column with the id of the contact that a row is about. */
  readonly contact?: string;
  /** True: the texts of a row that names the person go as a whole, and not only the words that name them. */
  readonly whole?: true;
  /** SQL of an array with the hashes of files in which a row's texts are spoken or shown: they go as a whole. */
  readonly files?: string;
  /** Further columns of a row that names them, with the SQL of their new values. */
  readonly set?: Readonly<Record<string, string>>;
}

/** In place of a salt, and of a digest from which a short text could be guessed. */
const RANDOM_SALT = "sha256(uuid_send(gen_random_uuid()))";
const RANDOM_DIGEST = `encode(${RANDOM_SALT}, 'hex')`;

/**
 * Every table in which a contact's data can rest, besides those that `erasePerson` deletes rows of. Whoever adds a
 * table that texts of people or arguments of calls get into adds it here: the rights of the operator's command follow
 * from this list. A test erases a contact and looks through a dump.
 */
export const ERASABLE: readonly ErasablePlace[] = [
  { table: "deals", texts: ["title"], contact: "contact_id", whole: true },
  {
    table: "emails",
    texts: ["recipient", "recipient_key", "subject", "body"],
    json: ["findings"],
    contact: "contact_id",
    whole: true,
    set: { message: "''", salt: RANDOM_SALT },
  },
  {
    table: "email_replies",
    texts: ["sender", "sender_key", "subject", "body", "draft"],
    json: ["citations"],
    contact: "contact_id",
    whole: true,
    set: { message_id: "''", mail_references: "'{}'" }, // may be made from the address
  },
  {
    table: "video_projects",
    texts: FILM_TEXTS,
    files: "ARRAY(SELECT value FROM json_each_text(artifacts))",
  },
  {
    table: "video_scenes",
    texts: ["heading", "text"],
    json: ["cues"],
    files:
      "ARRAY(SELECT value FROM video_projects p, json_each_text(p.artifacts) WHERE p.id = project_id)",
  },
  {
    table: "audio_clips",
    texts: ["title", "text"],
    json: ["cues"],
    files: "ARRAY[sha256]",
  },
  { table: "media_files", texts: ["text"], files: "ARRAY[sha256]" }, // drawn cards
  { table: "transcripts", texts: ["source", "text", "vtt"], json: ["segments"] },
  { table: "messages", texts: ["sender", "subject", "text"], json: ["refs"], whole: true },
  {
    table: "calendar_events",
    texts: ["title", "location"],
    json: ["attendees"],
    contact: "contact_id",
  },
  {
    table: "approvals",
    texts: ["subject", "description"],
    json: ["action", "grounds"],
    whole: true,
    set: { action_sha256: RANDOM_DIGEST, action_group: RANDOM_DIGEST, action_salt: RANDOM_SALT },
  },
  { table: "approval_moves", texts: ["reason"] },
  { table: "approval_votes", texts: ["reason"], json: ["refused"] },
  {
    table: "device_commands",
    texts: ["description"],
    json: ["argv", "grounds", "request"],
    set: { output: "NULL" },
  },
  {
    table: "held_calls",
    json: ["input", "output", "error"],
    set: { action_sha256: RANDOM_DIGEST },
  },
  { table: "call_effects", json: ["output"] },
  { table: "governance_decisions", json: ["reasons"] },
  { table: "a2a_tasks", json: ["record"] },
  { table: "private_texts", json: ["text"] },
  { table: "webhook_deliveries", json: ["body"] },
  { table: "tickets", texts: ["title", "description", "resolution"] },
  { table: "observations", texts: ["says", "words"], json: ["figures"] },
  { table: "ticket_events", json: ["data"] },
  { table: "findings", texts: ["summary"], json: ["detail", "target"] },
  { table: "effects", json: ["action", "detail"] },
  { table: "conversation_messages", texts: ["text"], json: ["citations"] },
  { table: "board_tasks", texts: ["title", "description", "assignee"] },
  { table: "agent_notes", texts: ["text"] },
  { table: "learning_items", texts: ["title"], json: ["passage"] },
  { table: "devices", texts: ["name"] },
  {
    table: "articles",
    texts: ["title", "description", "page", "slug", "source_id", "keyword"],
    json: ["facts", "content", "checks"],
    whole: true,
    // Nobody has approved it without its words, so it goes; the worker takes it out of the site.
    set: {
      state: "'erased'",
      published_at: "NULL",
      page_salt: RANDOM_SALT,
      deploy: `deploy || '{"url": ""}'`,
    },
  },
  { table: "pipeline_items", texts: ["title", "text"], json: ["source"] },
];
