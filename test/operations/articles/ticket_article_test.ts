import assert from "node:assert/strict";
import {
  checkArticle,
  openFactBook,
  openScrubber,
  renderArticle,
  type TicketFacts,
  toMarkdown,
  writeTicketArticle,
} from "../../../operations/articles/writing/mod.ts";

const SCRUBBER = openScrubber({ own: "shop", services: [], hosts: [], people: [], others: [] });
const AT = "2026-11-23T17:00:00.000Z";

/** Returns the article about a ticket, and the checks that it does not pass. */
function write(ticket: object, events: readonly object[], more: Partial<TicketFacts> = {}) {
  const book = openFactBook();
  const facts = {
    ticket: {
      ticket_id: "INC-000000000001",
      title: "shop fails",
      description: "",
      severity: "high",
      category: null,
      service: "shop",
      outcome: "resolved",
      resolution: null,
      receipt_id: null,
      opened_at: AT,
      resolved_at: "2026-11-23T17:20:00.000Z",
      ...ticket,
    },
    events: events.map((event) => ({ at: AT, data: {}, ...event })),
    runbooks: [],
    passage: undefined,
    scrubber: SCRUBBER,
    ...more,
  } as unknown as TicketFacts;
  const article = writeTicketArticle(facts, book);
  const text = article.sections.map(({ heading, blocks }) =>
    [heading ?? "", ...blocks.flatMap(({ sentences }) => sentences.map((one) => one.text))]
      .join("\n")
  ).join("\n");
  const checks = checkArticle(article, {
    page: "",
    url: "",
    keyword: null,
    source: "ticket",
    facts: book.facts,
    scrubber: SCRUBBER,
    others: [],
    slugTaken: false,
    knownLinks: new Set(),
  });
  const failed = checks.filter(({ passed }) => !passed).map(({ check }) => check);
  return { ...article, text, failed };
}

const detected = (code: string) => ({ kind: "detected", data: { code, check: "http" } });

describe("articles about tickets", () => {
  it("say so where it was a drill", () => {
    for (
      const [service, told] of [["test-0a1b2c3d", true], ["attack-0a1b2c3d", true], ["shop", false]]
    ) {
      const { text } = write({ service }, [detected("refused")]);
      assert.equal(/^This was a drill: the platform/m.test(text), told, String(service));
    }
  });

  const runbook = {
    runbook: "restart",
    title: "Restart it",
    about: "It is started again.",
    version: "1.0.0",
    origin: "shipped",
    steps: [{ step: "restart", does: "Restarts it.", never: [] }],
  };
  const runbooks = [runbook] as never;
  const tried = (data: object = {}) => ({
    kind: "remediated",
    data: { runbook: "restart", action_id: "a", state: "done", steps: [], ...data },
  });
  const failed = { kind: "verification_failed", data: { code: "timeout" } };
  const passed = { kind: "verified", data: { code: "ok" } };
  const rails = [{ rail: "input_safety", passed: true, reasons: [] }];
  const verdict = (decision: string) => ({
    kind: "permitted",
    data: { decision, rails, action_id: "a" },
  });
  const sealed = { outcome: "sealed", resolution: "Runbook restart" };

  it("tell what was tried in vain, and what people did", () => {
    const { title, text } = write(
      { resolution: "The disk was full. We moved the dumps of shop away." },
      [
        detected("refused"),
        ...[tried(), failed, tried(), failed],
        { kind: "escalated", data: { reason: "not_healed" } },
        { kind: "resolved", data: { by: "person" } },
      ],
      { runbooks },
    );
    assert.equal(title, "A service that refused connections: what people did");
    assert.match(text, /“Restart it” ran twice, and the check still failed afterwards\./);
    assert.match(text, /What people did\nNo runbook had helped, so people were called\./);
    assert.match(text, /We moved the dumps of the service away\./);
    assert.doesNotMatch(text, /How it was repaired/);
  });

  it("say that a repair ran, helped or failed only where that is on record", () => {
    const tell = (...events: object[]) =>
      write({}, [detected("refused"), ...events], { runbooks }).text;
    assert.match(tell(tried({ state: "not_done" })), /was begun once, and changed nothing\./);
    assert.match(tell(tried({ state: "unknown" })), /nobody can tell what it did, once\./);
    assert.match(tell(tried()), /ran once, and no check told whether it helped\./);
    const blind = { kind: "verification_failed", data: { code: "no_check" } };
    assert.match(tell(tried(), blind), /ran once, and no check told whether it helped\./);
    // a later run has rounds with the same numbers
    const later = tell(tried(), failed, { kind: "taken_over" }, detected("refused"), passed);
    assert.match(later, /ran once, and the check still failed afterwards\./);
    assert.doesNotMatch(later, /How it was repaired/);
  });

  it("say how it ended, and who ended it, as the record has it", () => {
    const end = (ticket: object, ...events: object[]) => {
      const { title, text } = write(ticket, [detected("refused"), ...events], { runbooks });
      return `${title}\n${text}`;
    };
    const helped = end(sealed, verdict("allow"), tried(), passed);
    assert.match(helped, /, healed in 20 minutes\n/);
    assert.match(helped, /repaired it without a person: 20 minutes after/);
    assert.match(
      end(sealed, passed),
      /over without a repair\n.*No repair of the platform ended it/s,
    );
    const escalated = end(sealed, { kind: "escalated", data: {} }, tried(), passed);
    assert.match(escalated, /The platform repaired it: 20 minutes/);
    const closed = end({ resolution: "No fault" }, { kind: "resolved" });
    assert.match(
      closed,
      /: how it ended\n.*Its ticket was closed 20 minutes after.*How it was closed\nNo fault/s,
    );
    assert.doesNotMatch(closed, /[Pp]eople/);
  });

  it("call waiting for another service no repair", () => {
    const steps = [{ step: "join", state: "done", code: "joined" }, {
      step: "wait-for-it",
      state: "done",
      code: "ok",
    }];
    const { title, text } = write(sealed, [
      detected("refused"),
      verdict("allow"),
      { ...tried(), data: { ...tried().data, steps } },
      passed,
    ], { runbooks });
    assert.match(
      `${title}\n${text}`,
      /over without a repair\n.*No repair of the platform ended it/s,
    );
    assert.doesNotMatch(text, /How it was repaired|repaired it/);
  });

  it("name a consent only where a person gave it to the repair that helped", () => {
    const approved = { kind: "approval_approved", data: { approval_id: "APR-1" } };
    const tell = (decision: string, ...events: object[]) => {
      const { title, text } = write(sealed, [
        detected("refused"),
        verdict(decision),
        ...events,
        tried(),
        passed,
      ], { runbooks });
      return `${title}\n${text}`;
    };
    const consented = tell("needs_approval", approved);
    assert.match(consented, /, repaired after approval\n/);
    assert.match(consented, /Why it was allowed\n.*\nA person approved exactly this action\./s);
    assert.match(tell("allow", approved), /, healed in/); // of an earlier action
    const denied = write({}, [verdict("needs_approval"), { kind: "approval_denied", data: {} }]);
    assert.match(denied.text, /What the guardrails decided\n.*\nA person denied it\./s);
    assert.match(write({}, [verdict("deny")]).text, /What the guardrails decided/);
    assert.match(write({}, [verdict("needs_approval")]).text, /needed, and none is on record/);
  });

  it("call no symptom a cause, and say so where none is known", () => {
    const tell = (...all: object[]) =>
      write({}, [detected("status_500"), ...all.map((data) => ({ kind: "diagnosed", data }))]).text;
    const unknown = tell({ symptom: "status_500", cause: null });
    assert.match(unknown, /What was found out\nThe cause is not known\./);
    assert.match(unknown + tell({ cause: null }, { cause: null }), /It was diagnosed twice\./);
    assert.doesNotMatch(unknown, /The cause is known|How the cause was found|status 500 is/);
    const classification = { category: "storage", confidence: 0.9 };
    const named = tell({
      cause: "disk_full",
      cause_says: "The disk of shop is full.",
      cause_confidence: 0.9,
      observations: [1, 2],
      basis: "observed",
      classification,
      alternatives: [
        { cause: "deadlock", because: "it computes" },
        { cause: "port_taken", because: "less speaks for it" },
      ],
    }, { cause: "port_taken", cause_says: "The port is taken." });
    assert.match(
      named,
      /How the cause was found\nThe disk of the service is full\.\nThat was named by 2 observations, with 90 percent confidence\./,
    );
    assert.match(named, /“deadlock” was ruled out: it computes\./);
    assert.match(named, /The cause belongs to the category “storage”/);
    assert.doesNotMatch(named, /port is taken|“port taken”/);
    assert.match(
      tell({ cause: "expired", observations: [] }),
      /named by the code of the check alone/,
    );
    assert.match(tell({ basis: "words", classification }), /words of the report point to/);
  });

  it("tell the moments as they were", () => {
    const moments = (kind: string, data: object) =>
      write({}, [detected("refused"), { kind: "opened" }, { kind, data }]).text.split("\n").at(-1)!;
    for (
      const [kind, data, text] of [
        ["diagnosed", { cause: null }, "The diagnosis names no cause."],
        ["diagnosed", { cause: "deadlock" }, "A cause is named."],
        ["verification_failed", { code: "no_check" }, "No check can tell whether it is over."],
        ["verification_failed", { code: "timeout" }, "The check still fails."],
        ["remediation_failed", { state: "not_done" }, "The repair has changed nothing."],
        ["remediation_failed", { state: "partly_done" }, "The repair has run in part."],
        ["remediation_failed", { state: "unknown" }, "Nobody can tell what the repair did."],
        ["undone", { code: "nothing_to_undo" }, "There is nothing to undo."],
        ["approval_expired", {}, "Nobody has decided in time."],
      ] as const
    ) assert.ok(moments(kind, data).endsWith(text), `${kind}: ${moments(kind, data)}`);
  });

  it("tell of attempts, and of no success or intent", () => {
    for (const code of ["brute_force", "invalid_users", "break_in_attempt", "port_scan"]) {
      const { title, text } = write({}, [detected(code)]);
      assert.doesNotMatch(`${title} ${text}`, /guess|attacker|somebody|stolen|on purpose/i, code);
    }
    for (const code of ["status_502", "status_503", "status_507", "status_429"]) {
      assert.match(write({}, [detected(code)]).text, new RegExp(code.slice(7)), code);
    }
  });

  it("take no check for a report of people, and no report for a check", () => {
    const { text } = write({ title: "odd thing seen" }, [detected("never_heard_of")]);
    assert.match(text, /a check found this: “Odd thing seen”/);
    const words = "The till in hall 3 prints nothing. It began today.";
    const report = write({ title: "Reported incident", description: words }, [
      { kind: "detected", data: { code: "reported", check: "report" } },
    ]);
    assert.match(report.text, /people reported this: “The till in hall 3 prints nothing”/);
    assert.equal(report.title, "The till in hall 3 prints nothing: how it ended");
    const measured = write({ description: words }, [detected("status_503")]);
    assert.match(
      measured.text,
      /The report was in these words: “The till in hall 3 prints/,
    );
  });

  it("have a picture of what took how long, with the receipt that says so", () => {
    const at = (ms: number) => new Date(Date.parse(AT) + ms).toISOString();
    const events = [
      { ...detected("refused"), at: at(100) },
      { kind: "diagnosed", at: at(400) },
      { kind: "remediated", at: at(2_400) },
      { kind: "verified", at: at(2_900) },
    ];
    const receipt_id = "00c0ffee00c0ffee";
    const article = write({ receipt_id }, events);
    assert.equal(article.incident!.receipt_id, receipt_id);
    const page = renderArticle(article, {
      siteUrl: "https://site.example",
      siteName: "site",
      ledgerUrl: "https://ledger.example",
      slug: "a",
      receiptId: "0000000000000001",
      authorship: { written_by: "rules", provider: null, dropped: [], fallback: null } as never,
      writtenAt: AT,
    });
    const figure = /<figure class="timeline">[^]*?<\/figure>/.exec(page)![0];
    assert.match(
      figure,
      /Diagnose<\/th>[^]*300 ms[^]*Repair<\/th>[^]*2\.0 s[^]*Verify<\/th>[^]*500 ms/,
    );
    assert.match(figure, /ledger\.example\/receipt\/00c0ffee00c0ffee/);
    assert.doesNotMatch(figure, /style=/);
    assert.match(
      toMarkdown(article),
      /Picture: What took how long, 2\.8 s in all: .*repair 2\.0 s/,
    );
    assert.equal(write({}, events).incident, undefined, "its end has no receipt");
  });

  it("are refused where they tell nothing, or not in English", () => {
    assert.ok(write({ title: "disk", resolution: "done" }, []).failed.includes("own_words"));
    const foreign = write({
      title: "Anmeldung schlägt fehl",
      description: "Benutzer können sich seit heute früh nicht anmelden.",
      resolution:
        "Die Uhr des Servers ging sieben Minuten nach. Wir haben die Quelle der Zeit berichtigt.",
    }, []).failed;
    assert.ok(foreign.includes("language"));
    const good = write({
      title: "Nobody can log in",
      description: "Since this morning, nobody can log in at the branch in the south.",
      resolution: "The clock of the server was seven minutes late. We have set its source of time.",
    }, []).failed;
    assert.ok(!good.includes("language") && !good.includes("own_words"));
  });
});
