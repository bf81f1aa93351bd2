/** Holds the content words of a sentence against the evidence that it cites. */
import { type Evidence } from "../../../contract/domain/mod.ts";

/** Words that say nothing by themselves, and those by which sentences speak of what they are about. */
const FRAME = new Set(
  ("a about above according after again all also although always among an and another any are around as at because been " +
    "before began begin begins begun behind being below between both but by can could did do does doing done down during " +
    "each either ever every few first for from further had has have having he her here him his how however if in into is it " +
    "its itself just last less many may might more most much must neither never no nobody none nor not nothing now of off " +
    "often on once one only onto or other others our out over own per same she should since so some something still such " +
    "than that the their them then there therefore these they this those though through thus to together too two under " +
    "until up upon us very was we were what when where whether which while who whom whose why will with within without " +
    "would yet you your cannot don didn doesn isn wasn aren weren won hasn haven hadn couldn shouldn " +
    "fault faults incident incidents name named names report reported reports service services")
    .split(" "),
);

/** States of a service, which say something although they are short words elsewhere. */
const STATES =
  /(?:^|\b(?:is|are|was|were|went|goes|stays|remains|still|back|been|be)\s+(?:\w+ly\s+)?)(up|down)\b/gi;

const NEGATION = /\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot)\b|n['’]t\b/i;

/** Words that blame somebody, or tell of a will to harm. */
const ACCUSATION =
  /\b(?:on purpose|deliberate(?:ly)?|intention(?:al|ally)?|malicious(?:ly)?|attack(?:s|ed|er|ers|ing)?|hack(?:s|ed|er|ers|ing)?|st[eo]len?|steal(?:s|ing)?|stole|theft|thie(?:f|ves)|sabotage[ds]?|intru(?:der|ders|sion|sions)|compromised?|breach(?:ed|es)?|insiders?|culprits?|guilty|to blame|exfiltrat\w+|guessed)\b/i;
/** Matches what a security detector says that it found. */
const SECURITY_FINDING =
  /\b(?:brute[ _-]?force|invalid[ _]users?|break[ _-]?in[ _]attempt|port[ _-]?scan|login[ _]after[ _]failures|malware|rootkit|failed log-?ins?)\b/i;
/** Sources of evidence that is the words of people, or general knowledge. */
const TOLD = new Set([
  "ticket",
  "tickets_of_service",
  "open_tickets",
  "resolution",
  "report",
  "triage",
  "transcript",
]);

const IRREGULAR: Readonly<Record<string, string>> = Object.fromEntries(
  ("lost:lose losing:lose ran:run running:run wrote:write written:write writing:write sent:send broke:break broken:break " +
    "found:find held:hold kept:keep left:leave made:make met:meet read:read rose:rise risen:rise saw:see seen:see " +
    "shut:shut stood:stand stuck:stick took:take taken:take told:tell went:go gone:go goes:go grew:grow grown:grow " +
    "got:get gave:give given:give fell:fall fallen:fall felt:feel fed:feed built:build bound:bind hung:hang hit:hit " +
    "knew:know known:know led:lead let:let lay:lie put:put set:set spent:spend said:say says:say needs:need")
    .split(" ")
    .map((pair) => pair.split(":") as [string, string]),
);

/** Returns the objection to a sentence by what its words rest on; undefined if there is none. */
export function supportObjection(
  text: string,
  cited: readonly Evidence[],
  services: readonly string[],
): string | undefined {
  const basis = cited.map((piece) => piece.text).join("\n");
  const supported = new Set(contentWords(basis, services).map(stemOf));
  const loose = contentWords(text, services).find((word) => !supported.has(stemOf(word)));
  if (loose !== undefined) {
    return `A sentence says something of "${loose.slice(0, 40)}", which is not in what it cites`;
  }
  if (!agreesInNegation(text, basis, services)) {
    return "A sentence denies what it cites, or says what that denies";
  }
  return undefined;
}

/** Returns the objection to an accusation that no security finding supports; undefined if there is none. */
export function accusationObjection(text: string, cited: readonly Evidence[]): string | undefined {
  const word = ACCUSATION.exec(text)?.[0];
  if (word === undefined) return undefined;
  const isFound = cited.some((piece) =>
    piece.from === "knowledge" || !TOLD.has(piece.from) && SECURITY_FINDING.test(piece.text)
  );
  return isFound ? undefined : `A sentence says "${word}", and cites no finding of an attack`;
}

/** A state of a service that was measured. */
const MEASURED: readonly (readonly [RegExp, boolean])[] = [
  [/^(\S+) (?:\([^)]*\) )?answers its (?:health )?check/i, true],
  [/^(\S+) (?:\([^)]*\) )?fails its (?:health )?check/i, false],
];
const SAYS_UP =
  /\b(?:is|stays|remains|was) (?:\w+ )?(?:up|healthy|online|running|fine|in order)\b|\b(?:answers|works|recovered)\b/i;
const SAYS_DOWN =
  /\b(?:is|stays|remains|was) (?:\w+ )?(?:down|unreachable|offline|dead|broken|failing|unhealthy)\b|\bfails\b|\b(?:does not|doesn['’]t) (?:answer|respond|work)\b/i;

/** Returns the objection to a sentence that says the opposite of what was measured; undefined if there is none. */
export function measurementObjection(
  text: string,
  evidence: readonly Evidence[],
): string | undefined {
  if (/\bif\b|\bwas not\b|\bis not\b/i.test(text)) return undefined; // no claim, or held against its words
  for (const piece of evidence) {
    for (const [shape, isUp] of MEASURED) {
      const name = shape.exec(piece.text)?.[1];
      if (name === undefined || !hasWord(text, name)) continue;
      const others = evidence.some((one) => {
        const other = MEASURED.map(([shape]) => shape.exec(one.text)?.[1]).find(Boolean);
        return other !== undefined && other !== name && hasWord(text, other);
      });
      if (
        !others && (isUp ? SAYS_DOWN : SAYS_UP).test(text) &&
        !(isUp ? SAYS_UP : SAYS_DOWN).test(text)
      ) {
        return `A sentence says otherwise than the measurement that ${name} is ${
          isUp ? "up" : "down"
        }`;
      }
    }
  }
  return undefined;
}

function hasWord(text: string, name: string): boolean {
  return text.toLowerCase().split(/[^a-z0-9._-]+/).map((word) => word.replace(/\.+$/, ""))
    .includes(name.toLowerCase());
}

/** Returns true if the part of the evidence that has most of a sentence's words denies as much as the sentence does. */
function agreesInNegation(text: string, basis: string, services: readonly string[]): boolean {
  const words = contentWords(text, services).map(stemOf);
  const parts = basis.split(/(?<=[.;!?])\s+|\n|…/).filter((part) => part.trim() !== "")
    .map((part) => {
      const own = new Set(contentWords(part, services).map(stemOf));
      return { part, shared: words.filter((word) => own.has(word)).length };
    });
  const most = Math.max(0, ...parts.map(({ shared }) => shared));
  if (most === 0) return true;
  return parts.some(({ part, shared }) =>
    shared === most && NEGATION.test(part) === NEGATION.test(text)
  );
}

/** Returns the words that say something: no names, numbers or words of the frame. */
function contentWords(text: string, services: readonly string[]): string[] {
  const known = new Set(services.map((name) => name.toLowerCase()));
  const states = [...text.matchAll(STATES)].map(([, state]) => state!.toLowerCase());
  const words = text.toLowerCase().replace(/`[^`]*`/g, " ").split(/[^\p{L}\p{N}._'’-]+/u)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|(?:['’]s)?[^\p{L}\p{N}]*$/gu, ""))
    .filter((word) => word !== "" && !known.has(word) && !/[\d_/]|\w\.\w/.test(word))
    .flatMap((word) => word.split(/[-'’.]/))
    .filter((word) => word.length > 1 && !FRAME.has(word));
  return [...words, ...states];
}

/** Returns a word without its ending, so that forms of one word are the same. */
function stemOf(word: string): string {
  const base = IRREGULAR[word] ?? word;
  if (base.length < 5) return base.replace(/(?<=\w{3})s$/, "").replace(/(?<=\w{3})e$/, "");
  return base.replace(/ies$/, "y").replace(/(?:ing|edly|ed|es|s|ly)$/, "")
    .replace(/(.)\1$/, "$1").replace(/e$/, "");
}
