/** Sentences of articles about the fault, each with a record that says so, and one that says otherwise. */
import type { Pair } from "../../../_sentences.ts";
import { detected, event, type TicketRecord } from "./_facts.ts";

const having = (...events: NonNullable<TicketRecord["events"]>): TicketRecord => ({ events });
const diagnosed = (data: object = {}, ...more: object[]): TicketRecord =>
  having(
    detected(),
    ...[data, ...more].map((one) => event("diagnosed", { cause: null, ...one })),
  );
const NAMED = { cause: "disk_full", observations: [1] };
const other = (because: string) =>
  diagnosed({ ...NAMED, alternatives: [{ cause: "deadlock", because }] });
const classified = (basis: string, reading = "dns") =>
  diagnosed({
    basis,
    classification: { category: "dns", confidence: 0.9 },
    reading: { category: reading },
  });
const report = (description: string): TicketRecord => ({
  ticket: { description },
  ...having(detected("reported", "report")),
});
const advised = (advice: string): TicketRecord => ({ ...having(detected()), advice });
const ADVICE =
  "Causes:\n- Logs grow.\nChecks:\n- `df`\nFixes:\n- Rotate them.\nEscalate when: It stays full.";

/** Pairs about the first paragraph. */
export const STORY: readonly Pair<TicketRecord>[] = [
  ["people reported this: “…”", report("Nobody can print."), having(detected("odd"))],
  ["a check found this: “…”", having(detected("odd")), report("Nobody can print.")],
  [
    "… joined the same incident, as the fault is their likely cause.",
    { ticket: { description: "Likely the cause of 2 more: x" }, ...having(detected()) },
    having(detected()),
  ],
  [
    "This was a drill: the platform attacked a sandbox of its own, to see that it finds and ends the attack.",
    { ticket: { service: "attack-0a1b2c3d" } },
    { ticket: { service: "test-0a1b2c3d" } },
  ],
  [
    "This was a drill: the platform broke a service of its own, to see that it heals.",
    { ticket: { service: "test-0a1b2c3d" } },
    { ticket: { service: "shop" } },
  ],
  [
    "The report was in these words: “…”.",
    { ticket: { description: "Nobody can print." }, ...having(detected()) },
    { ticket: { description: "What mends it: x" }, ...having(detected()) },
  ],
  ["what was seen", report("Nobody can print."), having(detected())],
  ["what was measured", having(detected()), report("Nobody can print.")],
  ["and how to check for the same fault yourself.", advised(ADVICE), having(detected())],
  [
    "and the receipts that prove it.",
    { ticket: { receipt_id: "r" }, ...having(detected()) },
    having(detected()),
  ],
];

/** Pairs about the cause. */
export const CAUSE: readonly Pair<TicketRecord>[] = [
  ["The cause is not known.", diagnosed(), diagnosed(NAMED)],
  ["What was found out", diagnosed(), diagnosed(NAMED)],
  ["How the cause was found", diagnosed(NAMED), diagnosed()],
  ["The cause was named: …", diagnosed(NAMED), diagnosed()],
  ["That was named by ……", diagnosed(NAMED), diagnosed()],
  ["the code of the check alone", diagnosed({ cause: "expired" }), diagnosed(NAMED)],
  [", with … confidence", diagnosed({ ...NAMED, cause_confidence: 0.9 }), diagnosed(NAMED)],
  ["The cause “…” was ruled out: …", other("it computes"), other("less speaks for it")],
  ["It was diagnosed …", diagnosed({}, {}), diagnosed()],
  ["… the category “…”, with … confidence.", classified("words"), diagnosed()],
  ["The cause belongs to", classified("observed"), classified("words")],
  ["What was measured points to", classified("measured"), classified("words")],
  ["The words of the report point to", classified("words"), classified("measured")],
  ["What is known points to", classified("another"), classified("words")],
  [
    "Read by its words alone, the report looked like “…”; … decided.",
    classified("measured", "storage"),
    classified("measured"),
  ],
  ["what was observed", classified("observed", "storage"), classified("measured", "storage")],
  ["the measurement", classified("measured", "storage"), classified("observed", "storage")],
];

/** Pairs about what the knowledge base advises. */
export const ADVISED: readonly Pair<TicketRecord>[] = [
  ["If it happens to you", advised(ADVICE), having(detected())],
  [
    "The nearest article of the knowledge base is “…”. Its usual causes:",
    advised(ADVICE),
    having(detected()),
  ],
  ["Look at these first:", advised(ADVICE), having(detected())],
  ["Then these help:", advised(ADVICE), having(detected())],
  ["Call for help in this case: …", advised(ADVICE), advised("Causes:\n- Logs grow.")],
];
