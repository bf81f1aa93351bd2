import type { Intake, Retrieved, Topic } from "../../domain/mod.ts";

/** Words by which a prompt asks about a part of the platform. */
const TOPIC_WORDS: Readonly<Record<Topic, RegExp>> = {
  status:
    /\b(platform|system|overall|cluster)\b.{0,30}\b(status|health|state)|\b(status|health|state)\b.{0,30}\b(platform|system|overall|everything|cluster)\b/i,
  incidents: /\b(incidents?|tickets?|outages?)\b/i,
  approvals: /\b(approvals?|waiting for people|pending decisions?)\b/i,
  ledger: /\b(ledger|receipts?|hash chain|chain intact)\b/i,
  services:
    /\b(services?|cmdb|dependenc(?:y|ies)|depends on)\b.{0,40}\b(list|which|up|down|known|status|are there|healthy)\b|\b(list|which|what|show)\b.{0,30}\b(services|cmdb)\b/i,
  repairs: /\b(repairs?|remediations?|self[- ]?heal\w*)\b/i,
};

/** Words by which somebody says that something fails. */
const FAILS = new RegExp(
  [
    String
      .raw`\b(is|are|was|were|seems?|keeps?|went|goes|gone|been|stays?)\s+(\w+\s+){0,2}(down|slow|unreachable|unavailable|broken|failing|stuck|hanging|frozen|full|dead|crashing|crashed|degraded|unhealthy|unresponsive|offline|expired|corrupt(ed)?|locked|overloaded|leaking|restarting|flapping)\b`,
    String
      .raw`\b(fails?|failed|failing|crash(es|ed|ing)?|hangs|timed? ?outs?|timeouts?|refused|unreachable|expired|outage|deadlocks?|oom|out of memory|no space left|disk full|not respond(ing)?|stopped working|does(n't| not) (work|start|answer|respond)|can(not|'t|not) (\w+\s+){0,2}(log ?in|connect|reach|open|write|read|resolve|send|start|access))\b`,
    String
      .raw`\b(5\d\d|4\d\d)\b.{0,20}\b(errors?|responses?|status)\b|\b(returns?|answers?|responds?)\b.{0,20}\b(errors?|5\d\d|4\d\d)\b`,
    String.raw`\b(brute[- ]?force|ransomware|malware|intrusion|exfiltration|breach|phishing)\b`,
    String.raw`\b(high|100 ?%|9\d ?%)\b.{0,20}\b(cpu|memory|load|latency|usage)\b`,
  ].join("|"),
  "i",
);

/** How sure the engine has to be where no word above says that something fails, as in other languages. */
const SURE = 0.9;

/** Names that a text has as words. @param known names of all services */
export function findNames(text: string, known: readonly string[]): string[] {
  const words = new Set(
    text.toLowerCase().split(/[^a-z0-9._-]+/).map((word) => word.replace(/[.]+$/, "")),
  );
  return known.filter((name) => words.has(name.toLowerCase()));
}

/** What a prompt names, by its words alone. @param known names of all services */
export function readPrompt(prompt: string, known: readonly string[]): Intake {
  const services = findNames(prompt, known).slice(0, 4);
  const tickets = unique(prompt.match(/\bINC-[0-9a-f]{12}\b/gi) ?? [])
    .map((id) => `INC-${id.slice(4).toLowerCase()}`);
  const receipts = unique(prompt.match(/\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b/gi) ?? []);
  const topics = (Object.keys(TOPIC_WORDS) as Topic[]).filter((topic) =>
    TOPIC_WORDS[topic].test(prompt)
  );
  const names = services.length + tickets.length + receipts.length + topics.length > 0;
  const kind = FAILS.test(prompt) ? "incident" : names ? "question" : "unclear";
  return { kind, services, tickets: tickets.slice(0, 4), receipts: receipts.slice(0, 4), topics };
}

/** The same, after the engine has judged: what it is sure of is an incident, whatever the language. */
export function kindOfPrompt({ kind }: Intake, { classification: its }: Retrieved): Intake["kind"] {
  if (kind !== "unclear" || !its || its.category === "other") return kind;
  const grave = its.severity === "critical" || its.severity === "high";
  return grave && its.confidence >= SURE ? "incident" : kind;
}

const unique = (texts: readonly string[]) => [...new Set(texts.map((text) => text.toLowerCase()))];
