import type { ArticleText } from "../../../contract/domain/mod.ts";
import type { PeriodFigures } from "../../../store/articles/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import {
  clipTitle,
  count,
  formatDay,
  formatDuration,
  formatTimes,
  joinWords,
  upperFirst,
} from "./_words.ts";
import type { Scrubber } from "./private_names.ts";
import { findSymptom } from "./symptoms.ts";

/** A span of days, in UTC. */
export interface Period {
  readonly from: Date;
  /** Exclusive. */
  readonly to: Date;
  /** For a title: `23 November 2026`, `November 2026`. */
  readonly name: string;
}

/** Reads a period: a day, a month, or two days with `/` between, both inclusive. @returns undefined: it is none */
export function readPeriod(id: string): Period | undefined {
  const month = /^(\d{4})-(\d{2})$/.exec(id);
  if (month) {
    const [year, number] = [Number(month[1]), Number(month[2])];
    if (number < 1 || number > 12) return undefined;
    const from = new Date(Date.UTC(year, number - 1, 1));
    const options = { month: "long", year: "numeric", timeZone: "UTC" } as const;
    const name = new Intl.DateTimeFormat("en-GB", options).format(from);
    return { from, to: new Date(Date.UTC(year, number, 1)), name };
  }
  const [first, last = first, ...rest] = id.split("/");
  if (rest.length > 0) return undefined;
  const [from, end] = [dayOf(first!), dayOf(last!)];
  if (!from || !end || end < from || end.getTime() - from.getTime() > 366 * DAY_MS) {
    return undefined;
  }
  const name = first === last
    ? formatDay(from.toISOString())
    : `${formatDay(from.toISOString())} to ${formatDay(end.toISOString())}`;
  return { from, to: new Date(end.getTime() + DAY_MS), name };
}

const DAY_MS = 86_400_000;

function dayOf(text: string): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) ? day : undefined;
}

/** Writes the article about the work of a period by rules. The titles of runbooks are those that ship. */
export function writePeriodArticle(
  period: Period,
  figures: PeriodFigures,
  titles: ReadonlyMap<string, string>,
  scrubber: Scrubber,
  book: FactBook,
): ArticleText {
  const { opened, healed, categories, runbooks, incidents } = figures;
  const say = (text: string) => sentence(text, book.add("figures", text));
  const isOneDay = period.to.getTime() - period.from.getTime() === DAY_MS;
  const told = incidents.map((incident) => say(tellIncident(incident, isOneDay, scrubber)));
  const kinds = categories.map(({ category, count: n }) =>
    say(`${upperFirst(category ?? "without a category")}: ${count(n, "incident")}.`)
  );
  const repairs = runbooks.map(({ runbook, ...ends }) =>
    say(tellRunbook(titles.get(runbook) ?? "A runbook of the platform’s own", ends))
  );
  return {
    title: titleOf(period, opened, healed),
    description: `What broke and what healed it, ${period.name}: ${count(opened, "incident")}, ${
      healed === opened && opened > 0 ? "all" : healed
    } healed by runbooks, with figures and proof.`,
    sections: [
      section(null, paragraph(describeFigures(period, figures).map(say))),
      section(
        "What happened, one by one",
        ...opened > told.length
          ? [paragraph([say(`These are the first ${told.length} of them:`)])]
          : [],
        { kind: "list", sentences: told },
      ),
      section("What broke", { kind: "list", sentences: kinds }),
      section("What mended it", { kind: "list", sentences: repairs }),
      section("When people decided", paragraph([say(describeDecisions(figures))])),
    ].filter(({ blocks }) => blocks.length > 0),
    receipts: incidents.flatMap(({ receipt_id: id, opened_at }) =>
      id === null ? [] : [{ id, what: `the incident of ${formatMoment(opened_at)}` }]
    ),
  };
}

/** Returns sentences about all incidents together. */
function describeFigures(
  { name, from, to }: Period,
  figures: PeriodFigures,
): string[] {
  const { opened, drills, resolved, median_ms, slowest_ms } = figures;
  const when = to.getTime() - from.getTime() === DAY_MS
    ? `On ${name}`
    : /^\d/.test(name)
    ? `From ${name}`
    : `In ${name}`;
  return [
    `${when} the platform had ${count(opened, "incident")}.`,
    ...drills === 0 ? [] : [
      drills === opened
        ? "All of them were drills, in which it broke or attacked a service of its own."
        : `${drills} of them ${
          drills === 1 ? "was a drill" : "were drills"
        }, in which it broke or attacked a service of its own.`,
    ],
    ...describeEnds(figures),
    ...median_ms === null || resolved < 2
      ? []
      : [`Half of the ${resolved} that ended were over within ${formatDuration(median_ms)}.`],
    ...slowest_ms === null || resolved < 2
      ? []
      : [`The longest one took ${formatDuration(slowest_ms)}.`],
    ...to.getTime() > Date.now() ? ["This was written before that time was over."] : [],
  ];
}

/** Tells how the incidents ended, those that have. */
function describeEnds(
  { opened, resolved, healed, consented, over, escalated }: PeriodFigures,
): string[] {
  const closed = resolved - healed - over;
  const open = opened - resolved;
  const were = (n: number) => n === 1 ? "was" : "were";
  const consent = consented === 0 ? "" : `, ${consented} of them with the consent of a person`;
  return [
    ...healed === 0 ? [] : [
      `It repaired ${
        healed === opened ? "all of them" : healed
      }${consent}, and the check passed after each of these repairs.`,
    ],
    ...over === 0 ? [] : [`${over} ${were(over)} over without a repair that helped.`],
    ...closed === 0 ? [] : [`${closed} ${were(closed)} closed with a note.`],
    ...open === 0
      ? []
      : [`${open} ${open === 1 ? "is" : "are"} still open, ${escalated} of them left to people.`],
  ];
}

/** Tells how often a runbook ran, and what it did. Nothing is said of a check that was not made. */
function tellRunbook(
  title: string,
  { runs, helped, failed, idle, unknown }: Omit<PeriodFigures["runbooks"][number], "runbook">,
): string {
  const unchecked = runs - helped - failed;
  const results = [
    ...helped > 0
      ? [helped === runs && runs > 1 ? "helped each time" : `helped ${formatTimes(helped)}`]
      : [],
    ...failed > 0 ? [`did not help ${formatTimes(failed)}`] : [],
    ...unchecked > 0 ? [`was not proven ${formatTimes(unchecked)}`] : [],
  ];
  const parts = [
    ...runs > 0 ? [`ran ${formatTimes(runs)} (${joinWords(results)})`] : [],
    ...idle > 0 ? [`was begun ${formatTimes(idle)} without changing anything`] : [],
    ...unknown > 0 ? [`ended ${formatTimes(unknown)} so that nobody can tell what it did`] : [],
  ];
  return `“${title}” ${joinWords(parts)}.`;
}

function tellIncident(
  { title, code, opened_at, resolved_at, ending, drill }: PeriodFigures["incidents"][number],
  isOneDay: boolean,
  scrubber: Scrubber,
): string {
  const symptom = (code && findSymptom(code)?.title) ??
    upperFirst(clipTitle(scrubber.scrub(title), 80));
  const took = resolved_at && formatDuration(resolved_at.getTime() - opened_at.getTime());
  const ends = {
    healed: `healed in ${took}`,
    over: `over without a repair after ${took}`,
    closed: `closed after ${took}`,
    open: "still open",
  };
  const moment = formatMoment(opened_at);
  return `\`${isOneDay ? moment.slice(-5) : moment}\` ${symptom}, ${ends[ending]}${
    drill ? " (a drill)" : ""
  }.`;
}

/** Returns a moment in UTC: `2026-11-23 16:36`. */
function formatMoment(at: Date): string {
  return at.toISOString().slice(0, 16).replace("T", " ");
}

function describeDecisions(
  { approved, denied, expired, pending, outdated }: PeriodFigures,
): string {
  const asked = approved + denied + expired + pending + outdated;
  if (asked === 0) return "No person was asked for consent about an incident.";
  const answers = [
    ...approved > 0 ? [`agreed ${formatTimes(approved)}`] : [],
    ...denied > 0 ? [`refused ${formatTimes(denied)}`] : [],
    ...expired > 0 ? [`did not answer in time ${formatTimes(expired)}`] : [],
    ...outdated > 0
      ? [`had the question withdrawn ${formatTimes(outdated)}, as what it was about had changed`]
      : [],
    ...pending > 0 ? [`had not yet answered ${formatTimes(pending)}`] : [],
  ];
  return `People were asked ${formatTimes(asked)}: they ${joinWords(answers)}.`;
}

function titleOf({ name }: Period, opened: number, healed: number): string {
  const long = `${name}: ${count(opened, "incident")}, ${healed} healed by runbooks`;
  return long.length <= 60 ? long : `${name}: ${count(opened, "incident")}`;
}
