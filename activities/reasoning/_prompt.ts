import type { Intake, Retrieved, Topic } from "../../contract/domain/mod.ts";
import { findNames } from "../../operations/models/writing/mod.ts";
import { asksBeyond, FAILURE, TOPIC_WORDS } from "./_prompt_words.ts";

/** Most services, tickets and receipts of one prompt that are looked up, each. */
const MAX_NAMES = 4;
/** Confidence from which the engine alone makes a prompt an incident, as in other languages than English. */
const MIN_INCIDENT_CONFIDENCE = 0.9;

/**
 * Returns what a prompt names, by its words alone.
 *
 * @param knownServices names of all services
 */
export function readPromptWords(prompt: string, knownServices: readonly string[]): Intake {
  const services = findNames(prompt, knownServices).slice(0, MAX_NAMES);
  const tickets = unique(prompt.match(/\bINC-[0-9a-f]{12}\b/gi) ?? [])
    .map((id) => `INC-${id.slice(4)}`);
  const receipts = unique(prompt.match(/\b(?:[0-9a-f]{64}|[0-9a-f]{16})\b/gi) ?? []);
  const topics = (Object.keys(TOPIC_WORDS) as Topic[])
    .filter((topic) => TOPIC_WORDS[topic].test(prompt));
  const namesAny = services.length + tickets.length + receipts.length + topics.length > 0;
  const beyond = asksBeyond(prompt, knownServices);
  const kind = beyond !== undefined
    ? "question"
    : FAILURE.test(prompt)
    ? "incident"
    : namesAny
    ? "question"
    : "unclear";
  return {
    kind,
    services,
    tickets: tickets.slice(0, MAX_NAMES),
    receipts: receipts.slice(0, MAX_NAMES),
    topics,
    ...(beyond === undefined ? {} : { beyond }),
  };
}

/** Returns the kind of a prompt after the engine has classified it. */
export function kindOfPrompt(
  { kind }: Intake,
  { classification }: Retrieved,
): Intake["kind"] {
  if (kind !== "unclear" || !classification || classification.category === "other") return kind;
  const { severity, confidence } = classification;
  const isSevere = severity === "critical" || severity === "high";
  return isSevere && confidence >= MIN_INCIDENT_CONFIDENCE ? "incident" : kind;
}

/** Returns the texts in lower case, each once. */
function unique(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => text.toLowerCase()))];
}
