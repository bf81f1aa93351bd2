/** The part of an article about a ticket that tells of its repair, and why that was allowed. */
import type {
  ArticleBlock,
  ArticleSection,
  ArticleSentence,
} from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import type { TicketFacts } from "./_ticket_facts.ts";
import { endingOf, findHelp, findVerdict, isApproval, listTries } from "./_ticket_record.ts";
import { clip, formatDuration, formatTimes, joinWords } from "./_words.ts";

const MAX_ENTRIES = 4;
/** Subjects of the rails of the guardrails. */
const RAILS: Readonly<Record<string, string>> = {
  input_safety: "that the text of the incident tries to steer nobody",
  execution_bounds: "that the repair stays within its bounds",
  output_fact_check: "that it contradicts nothing that the platform knows",
  retrieval_integrity: "that what it cites is what was cited",
};

/** Tells which runbooks were tried in vain, and which could not be carried out; undefined: none was. */
export function describeFailedTries(
  facts: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  const help = findHelp(facts);
  const failed = listTries(facts).filter(({ actionId, helped }) =>
    !helped || !help || actionId !== help.actionId
  );
  const sentences = [...new Set(failed.map(({ runbook }) => runbook))].flatMap((name) => {
    const runbook = facts.runbooks.find((one) => one.runbook === name);
    if (!runbook) return [];
    const { title, about, from, shipped } = textsOf(runbook, facts);
    const texts = describeTries(title, failed.filter((one) => one.runbook === name));
    return [
      ...texts.map((text) => sentence(text, book.add("repair", text))),
      ...about.map((one) => sentence(one, book.add(from, one, shipped))),
    ];
  });
  return sentences.length === 0 ? undefined : section("What was tried", paragraph(sentences));
}

/** Returns a sentence for each way in which tries of a runbook ended. */
function describeTries(title: string, tries: ReturnType<typeof listTries>): string[] {
  const ran = tries.filter(({ state }) => state === "done" || state === "partly_done");
  const vain = ran.filter(({ helped }) => helped === false).length;
  const unchecked = ran.filter(({ helped }) => helped === undefined).length;
  const idle = tries.filter(({ state }) => state === "not_done").length;
  const unknown = tries.filter(({ state }) => state === "unknown").length;
  return [
    ...vain > 0
      ? [`The runbook “${title}” ran ${formatTimes(vain)}, and the check still failed afterwards.`]
      : [],
    ...unchecked > 0
      ? [
        `The runbook “${title}” ran ${
          formatTimes(unchecked)
        }, and no check told whether it helped.`,
      ]
      : [],
    ...idle > 0
      ? [`The runbook “${title}” was begun ${formatTimes(idle)}, and changed nothing.`]
      : [],
    ...unknown > 0
      ? [`Of the runbook “${title}” nobody can tell what it did, ${formatTimes(unknown)}.`]
      : [],
  ];
}

/** Tells how an incident was repaired; undefined: no runbook helped. */
export function describeRepair(facts: TicketFacts, book: FactBook): ArticleSection | undefined {
  const repair = findHelp(facts);
  const runbook = facts.runbooks.find((one) => one.runbook === repair?.runbook);
  if (!repair || !runbook) return undefined;
  const { title, about, clean, from, shipped } = textsOf(runbook, facts);
  const say = (text: string) => sentence(text, book.add(from, text, shipped));
  const steps = runbook.steps.map((step) => {
    const done = repair.steps.find((one) => one.step === step.step);
    return say(`${clean(step.does)}${STEP_ENDS[done?.state ?? "none"] ?? ""}`);
  });
  const never = runbook.steps.flatMap((step) => step.never).map((text) => say(clean(text)));
  const passed = "After it, the check that had failed was made again, and it passed.";
  return section(
    "How it was repaired",
    paragraph([
      say(`The repair was the runbook “${title}”, version ${runbook.version}. Its description:`),
      ...about.map(say),
    ]),
    ...steps.length > 1 ? [{ kind: "steps", sentences: steps } as const] : [],
    ...steps.length === 1 ? [paragraph(onlyStep(steps[0]!))] : [],
    paragraph([sentence(passed, book.add("repair", passed))]),
    ...never.length > 0
      ? [
        paragraph([say("The runbook also says what the repair must never do:")]),
        { kind: "list", sentences: never } as const,
      ]
      : [],
    ...describePassedOver(facts, book),
  );
}

/** End of a step, by its state. */
const STEP_ENDS: Readonly<Record<string, string>> = {
  not_done: " This step changed nothing.",
  unknown: " Nobody can tell whether this step was done.",
  none: " This step was not begun.",
};

/** Returns the texts of a runbook. Those of the operator's own lose private names. */
function textsOf(runbook: TicketFacts["runbooks"][number], { scrubber }: TicketFacts) {
  const shipped = runbook.origin === "shipped";
  const clean = (text: string) => shipped ? text : scrubber.scrub(text);
  return {
    shipped,
    clean,
    from: `runbook ${runbook.runbook}`,
    title: clean(runbook.title),
    about: clean(runbook.about).trim().split(/(?<=[.!?])\s+(?=[A-Z])/),
  };
}

function onlyStep({ text, facts }: ArticleSentence): ArticleSentence[] {
  return [{ text: `It has one step, which ${text[0]!.toLowerCase()}${text.slice(1)}`, facts }];
}

/** Returns why other runbooks that fitted were not used. */
function describePassedOver({ events, runbooks }: TicketFacts, book: FactBook): ArticleBlock[] {
  const passed = events.findLast(({ kind }) => kind === "diagnosed")?.data.passed_over;
  if (!Array.isArray(passed)) return [];
  const missing = passed.flatMap(({ runbook, code }: { runbook: string; code: string }) => {
    const known = runbooks.find((one) => one.runbook === runbook && one.origin === "shipped");
    return known && code.startsWith("parameter_") ? [known.title] : [];
  }).slice(0, MAX_ENTRIES);
  if (missing.length === 0) return [];
  const titles = joinWords(missing.map((title) => `“${title}”`));
  const text = missing.length === 1
    ? `Another runbook fitted as well, ${titles}, and was passed over: it needs a value that is not set, or not as it must be.`
    : `Other runbooks fitted as well, ${titles}, and were passed over: each needs a value that is not set, or not as it must be.`;
  return [paragraph([sentence(text, book.add("diagnosis", text, true))])];
}

/** Tells who or what allowed the repair, or refused it. */
export function describePermission(facts: TicketFacts, book: FactBook) {
  const { events, scrubber } = facts;
  const verdict = findVerdict(facts, findHelp(facts)?.actionId);
  if (!verdict || (verdict.rails as readonly unknown[]).length === 0) return undefined;
  const rails = verdict.rails as {
    readonly rail: string;
    readonly passed: boolean;
    readonly reasons?: readonly string[];
  }[];
  const looks = rails.flatMap(({ rail }) => RAILS[rail] ?? []);
  const passed = rails.filter((rail) => rail.passed).length;
  const sentences = [
    `Before anything was done, guardrails checked ${joinWords(looks)}.`,
    passed === rails.length
      ? `All ${passed} of them agreed.`
      : `Of the ${rails.length} rails, ${passed} agreed.`,
  ].map((text) => sentence(text, book.add("guardrails", text, true)));
  for (const { passed, reasons = [] } of rails) {
    if (passed) continue;
    for (const reason of reasons) {
      const text = scrubber.scrub(reason);
      sentences.push(sentence(`The objection was this: ${text}`, book.add("guardrails", text)));
    }
  }
  const consent = verdict.decision === "needs_approval" ? describeConsent(events) : [];
  sentences.push(...consent.map((text) => sentence(text, book.add("approval", text))));
  const isAllowed = verdict.decision === "allow" ||
    verdict.decision === "needs_approval" &&
      events.some((event) => isApproval(event) || event.kind === "granted");
  return section(
    isAllowed ? "Why it was allowed" : "What the guardrails decided",
    paragraph(sentences),
  );
}

/** Tells what became of the question to people. */
function describeConsent(events: TicketFacts["events"]): string[] {
  const end = events.findLast((event) =>
    isApproval(event) || /^(?:approval_denied|approval_expired|granted)$/.test(event.kind)
  );
  if (end?.kind === "granted") return ["A standing grant of people allowed it without asking."];
  if (!end) return ["The consent of a person was needed, and none is on record."];
  const requested = events.findLast(({ kind, data, at }) =>
    kind === "approval_requested" && data.approval_id === end.data.approval_id && at <= end.at
  );
  const after = requested
    ? ` after ${formatDuration(Date.parse(end.at) - Date.parse(requested.at))}`
    : "";
  if (end.kind === "approval_approved") return [`A person approved exactly this action${after}.`];
  return end.kind === "approval_denied"
    ? [`A person denied it${after}.`]
    : [`Nobody decided about it in time.`];
}

/** Tells what people wrote when the ticket was closed; undefined: the platform closed it, or they wrote nothing. */
export function describePeople(
  facts: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  const { ticket: { resolution }, events, scrubber } = facts;
  const ending = endingOf(facts);
  if (ending === "repaired" || ending === "over" || !resolution) return undefined;
  const escalation = events.find(({ kind }) => kind === "escalated");
  const called = escalation ? [CALLS[String(escalation.data.reason)] ?? "People were called."] : [];
  const texts = scrubber.scrub(clip(resolution, 1_500)).split(/(?<=[.!?])\s+/);
  return section(
    ending === "closed_by_person" ? "What people did" : "How it was closed",
    paragraph([
      ...called.map((text) => sentence(text, book.add("ticket", text))),
      ...texts.map((text) => sentence(text, book.add("resolution", text))),
    ]),
  );
}

/** Why people were called, by the reason of the escalation. */
const CALLS: Readonly<Record<string, string>> = {
  no_runbook: "No runbook fitted, so people were called.",
  not_healed: "No runbook had helped, so people were called.",
  not_done: "No repair could be carried out, so people were called.",
};
