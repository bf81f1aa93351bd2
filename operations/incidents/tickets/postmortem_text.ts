import type { Repair, Ticket } from "../../../store/incidents/mod.ts";

/** The facts that a postmortem is written from. */
export interface PostmortemFacts {
  readonly ticket: Ticket;
  /** Oldest first. */
  readonly events: readonly Event[];
  /** Oldest first. */
  readonly repairs: readonly Repair[];
  /** Moves of the approvals that the incident waited for. */
  readonly moves: readonly Move[];
  /** Null: it is not sealed yet. */
  readonly receipt: Readonly<Record<string, unknown>> | null;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

interface Event {
  /** ISO 8601. */
  readonly at: string;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A move of an approval. Its key and principal are null where a timeout made it. */
interface Move {
  readonly receipt_id: string;
  readonly key_id: string | null;
  readonly principal: string | null;
}

/** Fields of an event that are in another section, or in the receipt. */
const OMITTED_FIELDS: ReadonlySet<string> = new Set([
  "workflow_id",
  "run_id",
  "basis",
  "says",
  "because",
]);
const MAX_CODE_LENGTH = 200;

/** Formats the draft of a postmortem as Markdown: the known facts, and a section that people fill in. */
export function formatPostmortem(facts: PostmortemFacts): string {
  const { ticket } = facts;
  const sections = [
    `# ${ticket.ticket_id}: ${escape(ticket.title)}`,
    formatSummary(ticket),
    `## Cause\n\n${formatCause(facts)}`,
    `## Timeline\n\n${formatTimeline(facts)}`,
    `## What was done\n\n${formatActions(facts)}`,
    `## Receipts\n\n${formatReceipts(facts)}`,
    "## For people to fill in\n\n- Impact on users:\n- What went well:\n- What went badly:\n- What will be changed, by whom, by when:",
  ];
  return sections.join("\n\n") + "\n";
}

function formatSummary(ticket: Ticket): string {
  const { opened_at, resolved_at, description } = ticket;
  const rows: [string, string | null][] = [
    ["Service", ticket.service],
    ["Severity", ticket.severity],
    ["Category", ticket.category ?? "not diagnosed"],
    ["Opened", opened_at],
    ["Resolved", resolved_at ?? "not yet"],
    ["Duration", resolved_at ? formatDuration(opened_at, resolved_at) : "still open"],
    ["Outcome", ticket.outcome ?? "none yet"],
    ["Escalated to people", ticket.escalated ? "yes" : "no"],
    ["Resolution", ticket.resolution],
  ];
  const lines = rows.filter(([, value]) => value)
    .map(([name, value]) => `| ${name} | ${escape(value!)} |`);
  const quote = description.split(/\r\n?|\n/).map((line) => `> ${escape(line)}`).join("\n");
  return `| | |\n| --- | --- |\n${lines.join("\n")}${description && `\n\n${quote}`}`;
}

/** Formats the last diagnosis. Earlier ones are in the timeline. */
function formatCause({ events }: PostmortemFacts): string {
  const diagnosis = events.findLast(({ kind }) => kind === "diagnosed");
  if (!diagnosis) return "Nothing was diagnosed.";
  const { cause, round, says, because, basis, classification, reading, citations } = diagnosis.data;
  const sentences = [`The check reported \`${code(cause)}\` (round ${code(round)}).`];
  if (typeof says === "string") sentences.push(escape(says));
  const judged = describeClass(classification);
  if (judged && basis === "measured") {
    sentences.push(`Judged by what was measured: ${judged}. ${escape(String(because))}`);
  } else if (judged) {
    sentences.push(`Judged by its words: ${judged}.`);
  }
  const read = basis === "measured" ? describeClass(reading) : undefined;
  if (read) sentences.push(`Its words alone: ${read}.`);
  if (Array.isArray(citations) && citations.length > 0) {
    sentences.push(`Citations: ${citations.map((one) => `\`${code(one)}\``).join(", ")}.`);
  }
  return sentences.join(" ");
}

/** Describes a category with its confidence; undefined: there is none. */
function describeClass(value: unknown): string | undefined {
  const { category, confidence } = (value ?? {}) as { category?: string; confidence?: number };
  return category && confidence !== undefined
    ? `${escape(category)} with a confidence of ${confidence.toFixed(2)}`
    : undefined;
}

function formatTimeline({ events, moves }: PostmortemFacts): string {
  const first = events[0] ? Date.parse(events[0].at) : 0;
  const lines = events.map(({ at, kind, data }) => {
    const facts = Object.entries({ ...data, by: deciderOf(data, moves) })
      .filter(([name, value]) => isFact(name, value))
      .map(([name, value]) => `${name} \`${code(value)}\``);
    const offset = formatOffset(Date.parse(at) - first);
    return `| ${at} | +${offset} | ${words(kind)} | ${facts.join(", ")} |`;
  });
  return ["| when | after | event | facts |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

function isFact(name: string, value: unknown): boolean {
  return !OMITTED_FIELDS.has(name) && value !== undefined && value !== null &&
    typeof value !== "object";
}

/** Returns who made the move of an approval that an event reports; undefined: nobody did. */
function deciderOf({ receipt_id }: Event["data"], moves: readonly Move[]): string | undefined {
  const move = moves.find((one) => one.receipt_id === receipt_id);
  return move?.key_id ? `${move.principal ?? "somebody"}, key ${move.key_id}` : undefined;
}

function formatActions({ events, moves, repairs }: PostmortemFacts): string {
  const lines = [
    ...events.filter(({ data }) => Array.isArray(data.rails)).map(formatVerdict),
    ...events.filter(({ kind }) => /^approval_(approved|denied|expired)$/.test(kind))
      .map((event) => formatDecision(event, moves)),
    ...repairs.map(formatRepair),
  ];
  return lines.length === 0 ? "The platform did nothing." : lines.join("\n");
}

/**
 * Formats a verdict of the guardrails, with the reasons of each rail that did not pass. It says "rails", as "guardrails:
 * allow" is found to be an injection.
 */
function formatVerdict({ data }: Event): string {
  const rails = data.rails as { rail: string; passed: boolean; reasons?: readonly string[] }[];
  const failed = rails.filter(({ passed }) => !passed)
    .map(({ rail, reasons = [] }) => `\n  - ${escape(rail)}: ${escape(reasons.join("; "))}`);
  const exceeded = Array.isArray(data.exceeds)
    ? data.exceeds.map((bound) => `\n  - beyond its bound: ${escape(String(bound))}`)
    : [];
  const passed = `${rails.length - failed.length} of ${rails.length} passed`;
  const details = [...failed, ...exceeded].join("");
  return `- rails: **${escape(String(data.decision))}**, ${passed}, ` +
    `policy \`${code(data.policy_version)}\`${details}`;
}

function formatDecision({ kind, data }: Event, moves: readonly Move[]): string {
  const by = deciderOf(data, moves);
  return `- ${words(kind)}: \`${code(data.approval_id)}\`${by ? ` by **${escape(by)}**` : ""}`;
}

function formatRepair({ runbook, service, state, verified, undone, ...repair }: Repair): string {
  const result = verified === null ? "" : verified ? ", it helped" : ", it did not help";
  const steps = repair.steps.map(({ step, state, code: reason, undoes }) =>
    `\n  - ${undoes ? "undo of " : ""}${escape(step ?? "step")}: ${state} (\`${
      code(reason ?? "")
    }\`)`
  );
  return `- ${escape(runbook ?? "action")} on ${escape(service)}: **${state}**${result}` +
    `${undone ? ", and was undone" : ""}, action \`${repair.id}\`${steps.join("")}`;
}

function formatReceipts({ ticket, events, receipt, ledgerUrl }: PostmortemFacts): string {
  const receipts = events.flatMap(({ kind, data }) =>
    typeof data.receipt_id === "string" ? [{ id: data.receipt_id, kind }] : []
  );
  const last = ticket.receipt_id;
  if (last && !receipts.some(({ id }) => id === last)) {
    receipts.push({ id: last, kind: "embedded" });
  }
  if (receipts.length === 0) return "None yet.";
  return receipts.map(({ id, kind }) => {
    const hash = id === last && receipt ? `, SHA-256 \`${code(receipt.hash_sha256)}\`` : "";
    return `- ${words(kind)}: [${id}](${ledgerUrl}/receipt/${encodeURIComponent(id)})${hash}`;
  }).join("\n");
}

function words(kind: string): string {
  return kind.replaceAll("_", " ");
}

/** Escapes text of people to one line that can't be Markdown, HTML or the end of a table cell. */
function escape(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|!]/g, "\\$&").replace(/[\r\n]+/g, " ");
}

/** Formats a value for a code span. */
function code(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.replace(/[`|\n\r]/g, " ").slice(0, MAX_CODE_LENGTH);
}

/** Formats milliseconds so exactly that no two events seem to coincide: `0:00.236`, `8:46.901`, `1:08:46.901`. */
function formatOffset(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = String(Math.floor(ms / 60_000) % 60);
  const seconds = ((ms % 60_000) / 1_000).toFixed(3).padStart(6, "0");
  return hours > 0 ? `${hours}:${minutes.padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

function formatDuration(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
