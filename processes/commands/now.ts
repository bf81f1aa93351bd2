/** `npm run now`: prints what needs people, as the console's first page shows it. */
import type { ApprovalDetails } from "../../operations/approvals/mod.ts";
import { userKey } from "../_approver_key.ts";
import { loadRunningConfig } from "../_running.ts";
import { type ConfigDrift, listConfigDrift } from "../../store/platform/mod.ts";
import { formatTable, runCommand } from "./_command.ts";
import { type GatewayCall, openGateway } from "./_gateway_call.ts";

const USAGE = `Usage: npm run now

Prints what needs people now, the longest wait first, each with the command that goes on: approvals, incidents that are left
to people, settings files that were refused, workers whose files are not what is in force, and parts of the platform that are not well.`;

/** An incident that is left to people. */
interface Ticket {
  readonly ticket_id: string;
  readonly title: string;
  readonly severity: string;
  readonly taken_by: string | null;
  readonly opened_at: string;
}

/** The platform's parts, as far as they are printed. */
interface PlatformStatus {
  readonly backends: Readonly<
    Record<string, {
      readonly ok: boolean;
      readonly error: string | null;
      readonly detail: { readonly refused?: readonly RefusedFile[] } | null;
    }>
  >;
}

/** A settings file that was refused. */
interface RefusedFile {
  readonly file: string;
  readonly line: number | null;
  readonly wrong: string;
  readonly refused_since: string;
}

await runCommand(USAGE, {}, async (openStore) => {
  const config = loadRunningConfig(process.env);
  const call = openGateway(config, await userKey(openStore, config.dataDir));
  const { backends } = await call<PlatformStatus>("GET", "/v1/status/fresh");
  const rows = [
    ...await approvalRows(call),
    ...await ticketRows(call),
    ...settingsRows(backends),
    ...driftRows(await listConfigDrift(openStore().asPlatform())),
  ].sort(([a], [b]) => a! < b! ? -1 : 1);
  const broken = brokenParts(backends);
  if (rows.length > 0) console.log(formatTable(["since", "what", "about", "go on with"], rows));
  for (const line of broken) console.log(line);
  if (rows.length + broken.length === 0) console.log("Nothing waits for people");
});

async function approvalRows(call: GatewayCall): Promise<string[][]> {
  const { approvals } = await call<{ approvals: ApprovalDetails[] }>(
    "GET",
    "/v1/approvals?status=pending&limit=200",
  );
  return approvals.map(({ approval_id, asked_at, description, subject }) => [
    shortTime(asked_at),
    approval_id,
    description || subject,
    `npm run approvals -- show ${approval_id}`,
  ]);
}

async function ticketRows(call: GatewayCall): Promise<string[][]> {
  const { tickets } = await call<{ tickets: Ticket[] }>(
    "GET",
    "/v1/itsm/incidents?status=open&escalated=true&limit=200",
  );
  return tickets.map(({ ticket_id, opened_at, title, severity, taken_by }) => [
    shortTime(opened_at),
    ticket_id,
    `${title} (${severity}${taken_by ? `, ${taken_by} has it` : ""})`,
    `npm run incidents -- show ${ticket_id}`,
  ]);
}

function settingsRows({ settings }: PlatformStatus["backends"]): string[][] {
  return (settings?.detail?.refused ?? []).map(({ file, line, wrong, refused_since }) => [
    shortTime(refused_since),
    line === null ? file : `${file}:${line}`,
    wrong,
    "npm run check-files",
  ]);
}

function driftRows(drift: readonly ConfigDrift[]): string[][] {
  return drift.map(({ name, place, since, version }) => [
    shortTime(since.toISOString()),
    "config_drift",
    `the file of ${name} at ${place} is not version ${version}, which stays in force`,
    "npm run config -- list",
  ]);
}

function brokenParts(backends: PlatformStatus["backends"]): string[] {
  return Object.entries(backends).filter(([name, { ok }]) => !ok && name !== "settings")
    .map(([name, { error }]) => `${name} is not well: ${error ?? "GET /v1/status says more"}`);
}

function shortTime(at: string): string {
  return `${at.slice(0, 16).replace("T", " ")}Z`;
}
