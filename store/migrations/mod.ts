/**
 * The schema, as SQL: one file a subject, in the order in which they run.
 *
 * ```ts
 * for (const [name, sql] of Object.entries(migrations)) await trx.raw(sql);
 * ```
 *
 * A released migration never changes: later changes of the schema are new files.
 * @module
 */
import { roles } from "./0001_roles.ts";
import { tenants } from "./0001_tenants.ts";
import { ledger } from "./0002_ledger.ts";
import { log } from "./0003_log.ts";
import { anchors } from "./0004_anchors.ts";
import { scrubAndImport } from "./0005_scrub_and_import.ts";
import { keysAndLimits } from "./0006_keys_and_limits.ts";
import { services } from "./0007_services.ts";
import { tickets } from "./0008_tickets.ts";
import { detection } from "./0009_detection.ts";
import { runbooks } from "./0010_runbooks.ts";
import { knowledgeAndLearning } from "./0011_knowledge_and_learning.ts";
import { approvals } from "./0012_approvals.ts";
import { governance } from "./0013_governance.ts";
import { webhooks } from "./0014_webhooks.ts";
import { tasks } from "./0015_tasks.ts";
import { privateTexts } from "./0016_private_texts.ts";
import { messages } from "./0017_messages.ts";
import { calendar } from "./0018_calendar.ts";
import { taskBoard } from "./0019_task_board.ts";
import { crm } from "./0020_crm.ts";
import { mail } from "./0021_mail.ts";
import { conversations } from "./0022_conversations.ts";
import { devices } from "./0023_devices.ts";
import { heartbeats } from "./0024_heartbeats.ts";
import { deviceCommands } from "./0025_device_commands.ts";
import { shield } from "./0026_shield.ts";
import { modelUse } from "./0027_model_use.ts";
import { admin } from "./0028_admin.ts";
import { processes } from "./0029_processes.ts";
import { observability } from "./0030_observability.ts";
import { articles } from "./0031_articles.ts";
import { media } from "./0032_media.ts";
import { alerts } from "./0033_alerts.ts";
import { acts } from "./0034_acts.ts";
import { ticketPeople } from "./0035_ticket_people.ts";
import { restartedProcesses } from "./0036_restarted_processes.ts";
import { people } from "./0037_people.ts";
import { receiptNames } from "./0038_receipt_names.ts";
import { settingsFiles } from "./0039_settings_files.ts";
import { publicServices } from "./0040_public_services.ts";
import { grants } from "./0041_grants.ts";
import { peopleFile } from "./0042_people_file.ts";
import { sharedSecrets } from "./0043_shared_secrets.ts";
import { schemaBound } from "./0044_schema_bound.ts";
import { replication } from "./0045_replication.ts";
import { places } from "./0046_places.ts";
import { configVersions } from "./0047_config_versions.ts";
import { composedTexts } from "./0048_composed_texts.ts";

/** SQL of every migration by its name, in order. */
export const migrations: Readonly<Record<string, string>> = {
  "0001_roles": roles,
  "0001_tenants": tenants,
  "0002_ledger": ledger,
  "0003_log": log,
  "0004_anchors": anchors,
  "0005_scrub_and_import": scrubAndImport,
  "0006_keys_and_limits": keysAndLimits,
  "0007_services": services,
  "0008_tickets": tickets,
  "0009_detection": detection,
  "0010_runbooks": runbooks,
  "0011_knowledge_and_learning": knowledgeAndLearning,
  "0012_approvals": approvals,
  "0013_governance": governance,
  "0014_webhooks": webhooks,
  "0015_tasks": tasks,
  "0016_private_texts": privateTexts,
  "0017_messages": messages,
  "0018_calendar": calendar,
  "0019_task_board": taskBoard,
  "0020_crm": crm,
  "0021_mail": mail,
  "0022_conversations": conversations,
  "0023_devices": devices,
  "0024_heartbeats": heartbeats,
  "0025_device_commands": deviceCommands,
  "0026_shield": shield,
  "0027_model_use": modelUse,
  "0028_admin": admin,
  "0029_processes": processes,
  "0030_observability": observability,
  "0031_articles": articles,
  "0032_media": media,
  "0033_alerts": alerts,
  "0034_acts": acts,
  "0035_ticket_people": ticketPeople,
  "0036_restarted_processes": restartedProcesses,
  "0037_people": people,
  "0038_receipt_names": receiptNames,
  "0039_settings_files": settingsFiles,
  "0040_public_services": publicServices,
  "0041_grants": grants,
  "0042_people_file": peopleFile,
  "0043_shared_secrets": sharedSecrets,
  "0044_schema_bound": schemaBound,
  "0045_replication": replication,
  "0046_places": places,
  "0047_config_versions": configVersions,
  "0048_composed_texts": composedTexts,
};
