import type { Repair, Ticket } from "../../store/mod.ts";

/** What a postmortem is drafted from. */
export interface PostmortemParts {
  readonly ticket: Ticket;
  /** Oldest first. */
  readonly events: readonly {
    readonly at: string;
    readonly kind: string;
    readonly data: Readonly<Record<string, unknown>>;
  }[];
  /** Oldest first. */
  readonly repairs: readonly Repair[];
  /** Moves of the approvals that it waited for; null where nobody made one, as time did. */
  readonly decisions: readonly {
    readonly receipt_id: string;
    readonly key_id: string | null;
    readonly principal: string | null;
  }[];
  /** Null: it is not sealed yet. */
  readonly receipt: Readonly<Record<string, unknown>> | null;
  /** Public address of the ledger. */
  readonly ledgerUrl: string;
}

/** Drafts the postmortem of an incident: what is known is filled in, what people have to say is asked for. */
export function postmortemOf(parts: PostmortemParts): string {
  const { ticket } = parts;
  const sections = [
    `# ${ticket.ticket_id}: ${plain(ticket.title)}`,
    summary(parts),
    `## Cause\n\n${cause(parts)}`,
    `## Timeline\n\n${timeline(parts)}`,
    `## What was done\n\n${done(parts)}`,
    `## Receipts\n\n${receipts(parts)}`,
    "## For people to fill in\n\n- Impact on users:\n- What went well:\n- What went badly:\n- What will be changed, by whom, by when:",
  ];
  return sections.join("\n\n") + "\n";
}

function summary({ ticket }: PostmortemParts): string {
  const end = ticket.resolved_at;
  const lasted = end ? duration(Date.parse(end) - Date.parse(ticket.opened_at)) : "still open";
  const rows: [string, string | null][] = [
    ["Service", ticket.service],
    ["Severity", ticket.severity],
    ["Category", ticket.category ?? "not diagnosed"],
    ["Opened", ticket.opened_at],
    ["Resolved", end ?? "not yet"],
    ["Lasted", lasted],
    ["Outcome", ticket.outcome ?? "none yet"],
    ["Escalated to people", ticket.escalated ? "yes" : "no"],
    ["Resolution", ticket.resolution],
  ];
  const lines = rows.filter(([, value]) => value).map(([name, value]) =>
    `| ${name} | ${plain(value!)} |`
  );
  const said = ticket.description === ""
    ? ""
    : `\n\n> ${plain(ticket.description).replaceAll("\n", "\n> ")}`;
  return `| | |\n| --- | --- |\n${lines.join("\n")}${said}`;
}

/** Of the last diagnosis; earlier ones are in the timeline. */
function cause({ events, ticket }: PostmortemParts): string {
  const diagnosis = events.findLast(({ kind }) => kind === "diagnosed");
  if (!diagnosis) return "Nothing was diagnosed.";
  const { cause: code, round, classification, citations } = diagnosis.data;
  const { category, confidence } = (classification ?? {}) as {
    category?: string;
    confidence?: number;
  };
  const words = [`The check said \`${codeOf(code)}\` (round ${codeOf(round)}).`];
  const judged = category && confidence !== undefined
    ? `${plain(category)} with a confidence of ${confidence.toFixed(2)}`
    : undefined;
  if (judged && category === ticket.category) words.push(`It was classified as ${judged}.`);
  else if (ticket.category) {
    words.push(`It was filed under ${plain(ticket.category)}, by what measured it.`);
    if (judged) words.push(`By its words it was taken for ${judged}.`);
  }
  if (Array.isArray(citations) && citations.length > 0) {
    words.push(`Cited: ${citations.map((one) => `\`${codeOf(one)}\``).join(", ")}.`);
  }
  return words.join(" ");
}

function timeline({ events, decisions }: PostmortemParts): string {
  const first = events[0] ? Date.parse(events[0].at) : 0;
  const lines = events.map(({ at, kind, data }) => {
    const facts = Object.entries({ ...data, by: deciderOf(data, decisions) }).filter((
      [name, value],
    ) => isFact(name, value))
      .map(([name, value]) => `${name} \`${codeOf(value)}\``).join(", ");
    return `| ${at} | +${offset(Date.parse(at) - first)} | ${
      kind.replaceAll("_", " ")
    } | ${facts} |`;
  });
  return ["| when | after | what | facts |", "| --- | --- | --- | --- |", ...lines].join("\n");
}

/** What tells something by itself: the rest has a section of its own, or is in the receipt. */
function isFact(name: string, value: unknown): boolean {
  return !/^(workflow_id|run_id|basis)$/.test(name) && value !== undefined && value !== null &&
    typeof value !== "object";
}

/** Who made the move of an approval that an event tells of: whose key, and its id. */
function deciderOf(
  { receipt_id }: Readonly<Record<string, unknown>>,
  decisions: PostmortemParts["decisions"],
): string | undefined {
  const move = decisions.find((one) => one.receipt_id === receipt_id);
  return move?.key_id ? `${move.principal ?? "somebody"}, key ${move.key_id}` : undefined;
}

function done({ repairs, events, decisions }: PostmortemParts): string {
  const decided = events.filter(({ kind }) => /^approval_(approved|denied|expired)$/.test(kind))
    .map(({ kind, data }) => {
      const by = deciderOf(data, decisions);
      const said = kind.replaceAll("_", " ");
      return `- ${said}: \`${codeOf(data.approval_id)}\`${by ? ` by **${plain(by)}**` : ""}`;
    });
  const acts = repairs.map((repair) => {
    const helped = repair.verified === null
      ? ""
      : repair.verified
      ? ", it helped"
      : ", it did not help";
    const undone = repair.undone ? ", and was undone" : "";
    const steps = repair.steps.map(({ step, state, code, undoes }) =>
      `\n  - ${undoes ? "undo of " : ""}${plain(step ?? "step")}: ${state} (\`${
        codeOf(code ?? "")
      }\`)`
    ).join("");
    return `- ${plain(repair.runbook ?? "action")} on ${
      plain(repair.service)
    }: **${repair.state}**${helped}${undone}, ` +
      `action \`${repair.action_sha256}\`${steps}`;
  });
  const lines = [...verdicts(events), ...decided, ...acts];
  return lines.length === 0 ? "Nothing was done by the platform." : lines.join("\n");
}

/** What the guardrails said, and why where a rail did not pass. */
function verdicts(events: PostmortemParts["events"]): string[] {
  return events.filter(({ data }) => Array.isArray(data.rails)).map(({ data }) => {
    const rails = data.rails as { rail: string; passed: boolean; reasons?: readonly string[] }[];
    const failed = rails.filter(({ passed }) => !passed)
      .map(({ rail, reasons = [] }) => `\n  - ${plain(rail)}: ${plain(reasons.join("; "))}`);
    const exceeds = Array.isArray(data.exceeds)
      ? data.exceeds.map((bound) => `\n  - beyond its bound: ${plain(String(bound))}`)
      : [];
    const policy = codeOf(data.policy_version);
    const passed = `${rails.length - failed.length} of ${rails.length} rails passed`;
    return `- guardrails: **${plain(String(data.decision))}**, ${passed}, policy \`${policy}\`${
      [...failed, ...exceeds].join("")
    }`;
  });
}

function receipts({ ticket, events, receipt, ledgerUrl }: PostmortemParts): string {
  const named = events.flatMap(({ kind, data }) =>
    typeof data.receipt_id === "string" ? [{ id: data.receipt_id, kind }] : []
  );
  const last = ticket.receipt_id;
  if (last && !named.some(({ id }) => id === last)) named.push({ id: last, kind: "embedded" });
  if (named.length === 0) return "None yet.";
  return named.map(({ id, kind }) => {
    const hash = id === last && receipt ? `, SHA-256 \`${codeOf(receipt.hash_sha256)}\`` : "";
    return `- ${kind.replaceAll("_", " ")}: [${id}](${ledgerUrl}/receipt/${
      encodeURIComponent(id)
    })${hash}`;
  }).join("\n");
}

/** Text of people, as text: nothing in it is Markdown, HTML or the end of a table's cell. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|!]/g, "\\$&").replace(/\r\n?/g, "\n");
}

/** Within backticks. */
function codeOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return text.replace(/[`|\n\r]/g, " ").slice(0, 200);
}

/** Exact, so that no two moves look as if they were one: `0:00.236`, `8:46.901`, `1:08:46.901`. */
function offset(ms: number): string {
  const [hours, minutes, seconds] = [
    Math.floor(ms / 3_600_000),
    Math.floor(ms / 60_000) % 60,
    ((ms % 60_000) / 1_000).toFixed(3).padStart(6, "0"),
  ];
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}`
    : `${minutes}:${seconds}`;
}

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
