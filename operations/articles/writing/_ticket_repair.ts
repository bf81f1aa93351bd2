/** The part of an article about a ticket that tells of its repair, and why that was allowed. */
import type {
  ArticleBlock,
  ArticleSection,
  ArticleSentence,
} from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import type { TicketFacts } from "./_ticket_facts.ts";
import { clip, formatDuration, formatTimes, joinWords } from "./_words.ts";

const MAX_ENTRIES = 4;
/** Subjects of the rails of the guardrails. */
const RAILS: Readonly<Record<string, string>> = {
  input_safety: "that the text of the incident tries to steer nobody",
  execution_bounds: "that the repair stays within its bounds",
  output_fact_check: "that its target is a service that the platform knows",
  retrieval_integrity: "that what it cites is what was cited",
};

/** One run of a runbook. */
interface Try {
  readonly runbook: string;
  readonly steps: readonly { readonly step: string; readonly state: string }[];
  /** True: the check passed after it. */
  readonly helped: boolean;
}

function triesOf({ events }: TicketFacts): Try[] {
  const rounds = events.filter(({ kind }) => kind === "verified").map(({ data }) => data.round);
  return events.filter(({ kind }) => kind === "remediated").map(({ data }) => ({
    runbook: String(data.runbook),
    steps: data.steps as Try["steps"] ?? [],
    helped: rounds.includes(data.round),
  }));
}

/** Tells which runbooks were tried in vain; undefined: none was. */
export function describeFailedTries(
  facts: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  const failed = triesOf(facts).filter(({ helped }) => !helped).map(({ runbook }) => runbook);
  const sentences = [...new Set(failed)].flatMap((name) => {
    const runbook = facts.runbooks.find((one) => one.runbook === name);
    if (!runbook) return [];
    const { title, about, from, shipped } = textsOf(runbook, facts);
    const times = formatTimes(failed.filter((one) => one === name).length);
    const text = `The runbook “${title}” ran ${times}, and the check still failed afterwards.`;
    return [
      sentence(text, book.add("repair", text)),
      ...about.map((one) => sentence(one, book.add(from, one, shipped))),
    ];
  });
  return sentences.length === 0 ? undefined : section("What was tried", paragraph(sentences));
}

/** Tells how an incident was repaired; undefined: no runbook helped. */
export function describeRepair(facts: TicketFacts, book: FactBook): ArticleSection | undefined {
  const repair = triesOf(facts).findLast(({ helped }) => helped);
  const runbook = facts.runbooks.find((one) => one.runbook === repair?.runbook);
  if (!repair || !runbook) return undefined;
  const { title, about, clean, from, shipped } = textsOf(runbook, facts);
  const say = (text: string) => sentence(text, book.add(from, text, shipped));
  const steps = runbook.steps.map((step) => {
    const done = repair.steps.find((one) => one.step === step.step);
    const state = done?.state === "done"
      ? ""
      : done
      ? ` This step ended as ${done.state}.`
      : " It was not needed.";
    return say(`${clean(step.does)}${state}`);
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
    paragraph([say("The runbook also says what the repair must never do:")]),
    { kind: "list", sentences: never },
    ...describePassedOver(facts, book),
  );
}

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
    ? `Another runbook fitted as well, ${titles}, and was passed over: it needs a value that the operator has not set.`
    : `Other runbooks fitted as well, ${titles}, and were passed over: each needs a value that the operator has not set.`;
  return [paragraph([sentence(text, book.add("diagnosis", text, true))])];
}

/** Tells who or what allowed the repair. */
export function describePermission({ events, scrubber }: TicketFacts, book: FactBook) {
  const verdict = events.findLast(({ data }) => Array.isArray(data.rails))?.data as {
    rails: { rail: string; passed: boolean; reasons: string[] }[];
  } | undefined;
  if (!verdict) return undefined;
  const looks = verdict.rails.flatMap(({ rail }) => RAILS[rail] ?? []);
  const passed = verdict.rails.filter((rail) => rail.passed).length;
  const intro = `Before it ran, guardrails checked ${joinWords(looks)}.`;
  const result = passed === verdict.rails.length
    ? `All ${passed} of them let it pass.`
    : `${passed} of ${verdict.rails.length} let it pass.`;
  const sentences = [intro, result].map((text) =>
    sentence(text, book.add("guardrails", text, true))
  );
  for (const { passed, reasons } of verdict.rails) {
    if (passed) continue;
    for (const reason of reasons) {
      const text = scrubber.scrub(reason);
      sentences.push(sentence(`The objection was this: ${text}`, book.add("guardrails", text)));
    }
  }
  const requested = events.find(({ kind }) => /approval_requested|waiting|asked/.test(kind));
  const approved = events.find(({ kind }) => kind === "approval_approved");
  if (approved) {
    const waited = requested ? Date.parse(approved.at) - Date.parse(requested.at) : undefined;
    const text = waited === undefined
      ? "A person looked at the exact action and approved it."
      : `A person looked at the exact action and approved it after ${formatDuration(waited)}.`;
    sentences.push(sentence(text, book.add("approval", text)));
  }
  return section("Why it was allowed", paragraph(sentences));
}

/** Tells what people did where no runbook helped; undefined: the platform healed it, or they wrote nothing. */
export function describePeople(
  { ticket, events, scrubber }: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  const { outcome, resolution } = ticket;
  if (outcome === "sealed" || !resolution) return undefined;
  const reason = events.find(({ kind }) => kind === "escalated")?.data.reason;
  const called = reason === undefined ? [] : [CALLS[String(reason)] ?? "People were called."];
  const texts = scrubber.scrub(clip(resolution, 1_500)).split(/(?<=[.!?])\s+/);
  return section(
    "What people did",
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
