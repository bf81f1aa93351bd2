/** Words by which prompts are read, as parts of regular expressions. */
import type { Topic } from "../../contract/domain/mod.ts";

const PLATFORM_WORDS = ["platform", "system", "overall", "cluster"];

const LINKING_VERBS = [
  "is",
  "are",
  "was",
  "were",
  "seems?",
  "keeps?",
  "went",
  "goes",
  "gone",
  "been",
  "stays?",
];

/** States that a linking verb turns into a report: "billing is down". */
const FAILURE_STATES = [
  "down",
  "slow",
  "unreachable",
  "unavailable",
  "broken",
  "failing",
  "stuck",
  "hanging",
  "frozen",
  "full",
  "dead",
  "crashing",
  "crashed",
  "degraded",
  "unhealthy",
  "unresponsive",
  "offline",
  "expired",
  "corrupt(?:ed)?",
  "locked",
  "overloaded",
  "leaking",
  "restarting",
  "flapping",
];

/** Words that report a failure by themselves. */
const FAILURE_WORDS = [
  "fails?",
  "failed",
  "failing",
  "crash(?:es|ed|ing)?",
  "hangs",
  "timed? ?outs?",
  "timeouts?",
  "refused",
  "unreachable",
  "expired",
  "outage",
  "deadlocks?",
  "oom",
  "out of memory",
  "no space left",
  "disk full",
  "not respond(?:ing)?",
  "stopped working",
  "does(?:n't| not) (?:work|start|answer|respond)",
];

/** Verbs that report a failure after "can not": "users can't log in". */
const ABILITIES = [
  "log ?in",
  "connect",
  "reach",
  "open",
  "write",
  "read",
  "resolve",
  "send",
  "start",
  "access",
];

const ATTACK_WORDS = [
  "brute[- ]?force",
  "ransomware",
  "malware",
  "intrusion",
  "exfiltration",
  "breach",
  "phishing",
];

/** Words that ask for a list or the state of services. */
const SERVICE_QUESTIONS = [
  "list",
  "which",
  "up",
  "down",
  "known",
  "status",
  "are there",
  "healthy",
];

/** Matches text that reports a failure. */
export const FAILURE = anyOf(
  `${words(LINKING_VERBS)}\\s+(?:\\w+\\s+){0,2}${words(FAILURE_STATES)}`,
  words([...FAILURE_WORDS, `can(?:not|'t|not) (?:\\w+\\s+){0,2}(?:${ABILITIES.join("|")})`]),
  near(["5\\d\\d", "4\\d\\d"], 20, ["errors?", "responses?", "status"]),
  near(["returns?", "answers?", "responds?"], 20, ["errors?", "5\\d\\d", "4\\d\\d"]),
  words(ATTACK_WORDS),
  near(["high", "100 ?%", "9\\d ?%"], 20, ["cpu", "memory", "load", "latency", "usage"]),
);

/** Expressions by which a prompt names a topic. */
export const TOPIC_WORDS: Readonly<Record<Topic, RegExp>> = {
  status: anyOf(
    `${words(PLATFORM_WORDS)}.{0,30}\\b(?:status|health|state)`,
    near(["status", "health", "state"], 30, [
      "platform",
      "system",
      "overall",
      "everything",
      "cluster",
    ]),
  ),
  incidents: anyOf(words(["incidents?", "tickets?", "outages?"])),
  approvals: anyOf(words(["approvals?", "waiting for people", "pending decisions?"])),
  ledger: anyOf(words(["ledger", "receipts?", "hash chain", "chain intact"])),
  services: anyOf(
    near(["services?", "cmdb", "dependenc(?:y|ies)", "depends on"], 40, SERVICE_QUESTIONS),
    near(["list", "which", "what", "show"], 30, ["services", "cmdb"]),
  ),
  figures: anyOf(
    near(["how many", "number of", "count of"], 40, ["incidents?", "tickets?", "outages?"]),
  ),
  repairs: anyOf("\\b(?:repairs?|remediations?|self[- ]?heal\\w*)\\b"),
};

/** Returns the source that matches one of these as a whole word. */
function words(alternatives: readonly string[]): string {
  return `\\b(?:${alternatives.join("|")})\\b`;
}

/** Returns the source that matches a word, and within so many characters another. */
function near(first: readonly string[], characters: number, second: readonly string[]): string {
  return `${words(first)}.{0,${characters}}${words(second)}`;
}

function anyOf(...sources: readonly string[]): RegExp {
  return new RegExp(sources.join("|"), "i");
}

/** Subjects of questions that the platform keeps no record of. */
const BEYOND = [
  "orders?",
  "customers?",
  "users?",
  "visitors?",
  "people",
  "revenue",
  "sales",
  "turnover",
  "money",
  "payments?",
  "invoices?",
  "bookings?",
  "requests?",
  "transactions?",
  "records?",
  "messages?",
  "data",
];
const LOSSES = ["lost", "lose", "losing", "missing", "affected", "failed", "refunded", "cost"];

/** Matches a question about what the platform keeps no record of. */
const ASKS_BEYOND = [
  `\\b(?:how many|how much|which|whose|number of|what)\\s+(?:\\w+\\s+){0,2}(${
    BEYOND.join("|")
  })\\b.{0,60}${words(LOSSES)}`,
  `${words(LOSSES)}\\s+(?:\\w+\\s+){0,2}(${BEYOND.join("|")})\\b.*\\?`,
  `\\b(?:did|do|have|has|were|was|are)\\s+(?:\\w+\\s+){0,3}(${BEYOND.join("|")})\\b.{0,40}${
    words(LOSSES)
  }.*\\?`,
].map((source) => new RegExp(source, "i"));

/** Returns what a question asks for that the platform keeps no record of; undefined: nothing, or a service has that name. */
export function asksBeyond(prompt: string, services: readonly string[]): string | undefined {
  const known = new Set(services.map((name) => name.toLowerCase()));
  for (const shape of ASKS_BEYOND) {
    const subject = shape.exec(prompt)?.[1]?.toLowerCase();
    if (subject !== undefined && !known.has(subject)) return subject;
  }
  return undefined;
}
