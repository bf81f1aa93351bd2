import assert from "node:assert/strict";
import {
  checkArticle,
  openFactBook,
  openScrubber,
  type TicketFacts,
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

  it("tell what was tried in vain, and what people did", () => {
    const runbook = {
      runbook: "restart",
      title: "Restart it",
      about: "It is started again.",
      version: "1.0.0",
      origin: "shipped",
      steps: [],
    };
    const failed = [1, 2].flatMap((round) => [
      { kind: "remediated", data: { round, runbook: "restart", steps: [] } },
      { kind: "verification_failed", data: { round } },
    ]);
    const { title, text } = write(
      { resolution: "The disk was full. We moved the dumps of shop away." },
      [detected("refused"), ...failed, { kind: "escalated", data: { reason: "not_healed" } }],
      { runbooks: [runbook] as never },
    );
    assert.equal(title, "A service that refused connections: how people solved it");
    assert.match(text, /“Restart it” ran twice, and the check still failed afterwards\./);
    assert.match(text, /What people did\nNo runbook had helped, so people were called\./);
    assert.match(text, /We moved the dumps of the service away\./);
    assert.doesNotMatch(text, /How it was repaired/);
  });

  it("take no check for a report of people, and no report for a check", () => {
    const { text } = write({ title: "odd thing seen" }, [detected("never_heard_of")]);
    assert.match(text, /a check found this: “Odd thing seen”/);
    const words = "The till in hall 3 prints nothing. It began today.";
    const report = write({ title: "Reported incident", description: words }, [
      { kind: "detected", data: { code: "reported", check: "report" } },
    ]);
    assert.match(report.text, /people reported this: “The till in hall 3 prints nothing”/);
    assert.equal(report.title, "The till in hall 3 prints nothing: how people solved it");
    const measured = write({ description: words }, [detected("status_503")]);
    assert.match(
      measured.text,
      /People had reported it in these words: “The till in hall 3 prints/,
    );
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
