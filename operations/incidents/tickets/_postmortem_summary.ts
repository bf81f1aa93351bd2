/** The first parts of a postmortem: the table, when the fault was seen, and what it affected. */
import { isChange, joinTexts, say, type Text } from "../../../contract/domain/mod.ts";
import { describeEscalation } from "../../../store/incidents/mod.ts";
import { code, count, escape, formatDuration, join, tell } from "./_markdown.ts";
import type { PostmortemFacts } from "./_postmortem_facts.ts";

const MAX_NAMED = 20;

/** Formats the ticket as a table, and what was written in it. */
export function formatSummary(facts: PostmortemFacts): string {
  const { ticket } = facts;
  const { last_good_at, opened_at, resolved_at, description } = ticket;
  const rows: [string, Text | null][] = [
    ["Service", ticket.service],
    ["Severity", ticket.severity],
    ["Category", ticket.category ?? "unknown"],
    ["Last in order", last_good_at],
    ["Opened", opened_at],
    ["Resolved", resolved_at ?? "not yet"],
    [
      "Time to restore",
      last_good_at && resolved_at
        ? say`${formatDuration(last_good_at, resolved_at)} from the last check that passed`
        : null,
    ],
    [
      "Duration",
      resolved_at
        ? say`${formatDuration(opened_at, resolved_at)} from the ticket`
        : say`still open`,
    ],
    ["Outcome", describeOutcome(facts)],
    ["Escalated to people", describeEscalations(facts)],
    ["Resolution", ticket.resolution],
  ];
  const lines = rows.filter(([, value]) => value)
    .map(([name, value]) => `| ${name} | ${tell(value!)} |`);
  const quote = description.split(/\r\n?|\n/).map((line) => `> ${escape(line)}`).join("\n");
  return `| | |\n| --- | --- |\n${lines.join("\n")}${description && `\n\n${quote}`}`;
}

/** Describes how it ended. A repair counts as the end only where the check passed after it. */
function describeOutcome({ ticket, events, repairs }: PostmortemFacts): Text {
  const { status, outcome, approval_id, escalated } = ticket;
  if (status === "open") {
    if (approval_id) return say`open: a repair waits for people to decide`;
    return escalated ? say`open: it waits for people` : say`open`;
  }
  if (outcome === "sealed") {
    return repairs.some(({ verified, steps }) =>
        verified && steps.some((step) => isChange(step) && !step.undoes)
      )
      ? say`repaired by the platform, and its check passed`
      : say`its check passed, without a repair just before`;
  }
  if (outcome === "recovered") return say`closed by the platform, as the fault was gone`;
  const isByPerson = events.some(({ kind, data }) => kind === "resolved" && data.by === "person");
  return isByPerson ? say`closed by a person` : say`closed with a note`;
}

/** Tells each escalation: a ticket that was taken over or closed later was escalated all the same. */
function describeEscalations({ ticket, events }: PostmortemFacts): Text {
  const all = events.filter(({ kind }) => kind === "escalated");
  if (all.length === 0) return ticket.escalated ? say`yes` : say`no`;
  return say`yes: ${
    joinTexts(
      all.map(({ at, data: { reason } }) =>
        reason ? say`${at} (${describeEscalation(String(reason))})` : at
      ),
      "; ",
    )
  }`;
}

/** Formats when the fault was first seen, and how long it took until its ticket. */
export function formatDetection({ ticket, events, finding }: PostmortemFacts): string {
  const { observed_at: observed, check } = events.find(({ kind }) => kind === "detected")?.data ??
    {};
  const seen = finding?.first_seen_at ?? (typeof observed === "string" ? observed : undefined);
  if (!seen) {
    return check === undefined
      ? "When the fault began is not on record: no detector found it."
      : "When the fault began, or was first seen, is not on record.";
  }
  const opened = `the ticket was opened ${formatDuration(seen, ticket.opened_at)} later`;
  if (check === "report") {
    return `The fault was reported at ${seen}, and ${opened}. When it began is not on record.`;
  }
  const by = finding ? ` by the detector ${code(finding.detector)}` : "";
  const { last_good_at: good } = ticket;
  return `The fault was first seen at ${seen}${by}, and ${opened}. ${describeBefore(good, seen)}`;
}

/** Describes how long the fault can have been there before it was seen. */
function describeBefore(good: string | null, seen: string): string {
  if (good === null) {
    return "It may have begun before: when it was last seen in order is not on record.";
  }
  return good <= seen
    ? `The check passed last at ${good}, so that the fault went unseen for at most ${
      formatDuration(good, seen)
    }.`
    : `The check passed once more at ${good}.`;
}

/** Formats what the fault affected, as far as the platform knows. */
export function formatImpact(
  { events, foundAgain, dependants, ticket }: PostmortemFacts,
): string {
  const related = events.flatMap(({ kind, data }) =>
    kind === "detected" && Array.isArray(data.related)
      ? data.related as { service: string | null; code: string; fingerprint: string }[]
      : []
  );
  const findings = [...new Map(related.map((one) => [one.fingerprint, one])).values()];
  const failed = findings.slice(0, MAX_NAMED)
    .map(({ service, code: found }) => `${service ? `${escape(service)} ` : ""}(${code(found)})`);
  const more = findings.length - failed.length;
  const sentences = [
    findings.length === 0
      ? "No other finding was put to this incident."
      : `${count(findings.length, "other finding")} ${
        findings.length === 1 ? "was" : "were"
      } put to this incident: ${join([...failed, ...more > 0 ? [`${more} more`] : []])}.`,
    ...(foundAgain === 0
      ? []
      : [`Sweeps found the fault again ${count(foundAgain, "time")} while the loop worked on it.`]),
    ...describeDependants(ticket.service, dependants),
    "How many requests or users were affected is not known to the platform.",
  ];
  return sentences.join(" ");
}

function describeDependants(
  service: string | null,
  dependants: PostmortemFacts["dependants"],
): string[] {
  if (service === null || dependants === undefined) return [];
  if (dependants.length === 0) {
    return [`The service graph knows nothing that needs ${escape(service)}.`];
  }
  const named = dependants.slice(0, MAX_NAMED).map(escape);
  const more = dependants.length - named.length;
  return [
    `By the service graph as it is now, ${escape(service)} is needed by ${
      join([...named, ...more > 0 ? [`${more} more`] : []])
    }; whether they suffered is not said by that.`,
  ];
}
