import assert from "node:assert/strict";
import { isUnfit, matchRunbooks, type RunbookIncident } from "../../../judgement/runbooks/mod.ts";
import { shipped } from "./_runbook.ts";

describe("isUnfit()", () => {
  const RESTARTS = ["restart-service", "systemd-unit-restart", "container-restart"];
  const MENDED: readonly (readonly [code: string, cause?: string])[] = [
    ["refused"],
    ["timeout"],
    ["econnreset"],
    ["status_500"],
    ["status_500", "memory_exhausted"],
    ["status_503", "descriptors_exhausted"],
  ];
  const NOT_MENDED: readonly (readonly [code: string, cause?: string])[] = [
    ["status_401"],
    ["status_404"],
    ["self_signed_cert_in_chain"],
    ["cert_has_expired"],
    ["slow"],
    ["status_500", "certificate_untrusted"],
    ["timeout", "dependency_slow"],
    ["refused", "bad_configuration"],
    ["status_500", "disk_full"],
    ["refused", "port_taken"],
  ];

  for (const name of RESTARTS) {
    it(`lets ${name} restart a service only for what a restart mends`, () => {
      const runbook = shipped.runbooks.find((one) => one.runbook === name)!;
      const refused = ([code, cause]: readonly [string, string?]) =>
        isUnfit(runbook, { finding: { check: "http", code }, cause: cause ?? null });
      assert.deepEqual(MENDED.filter(refused), []);
      assert.deepEqual(NOT_MENDED.filter((one) => !refused(one)), []);
    });
  }
});

describe("matchRunbooks()", () => {
  const names = (
    incident: Partial<RunbookIncident["service"]> & Partial<RunbookIncident["finding"]> & {
      category?: string;
      named?: string;
      text?: string;
      gives?: string[];
      boundedFolder?: boolean;
    },
  ) => {
    const { name = "svc", type = "web", restart = null, check = null, ...rest } = incident;
    const { code = "refused", category = null, text = "", ...more } = rest;
    const kind = typeof check === "string" ? check : "http";
    return matchRunbooks(shipped.runbooks, {
      service: { name, type, restart, check: check ?? {} },
      finding: { check: kind, code },
      category,
      text,
      ...more,
    }).map(({ runbook }) => runbook);
  };

  it("includes a restart for a service that lists one, whatever the category", () => {
    assert.ok(names({ restart: {}, code: "status_500" }).includes("restart-service"));
    assert.ok(names({ restart: {}, category: "security" }).includes("restart-service"));
    assert.ok(!names({}).includes("restart-service"));
  });

  it("prefers the code of the finding, and then the type of the service", () => {
    assert.equal(
      names({ check: "host", code: "disk_full", type: "database" })[0],
      "database-disk-full",
    );
    assert.equal(names({ check: "host", code: "disk_full" })[0], "disk-clean-up-package-caches");
    assert.equal(names({ check: "host", code: "inodes_full" })[0], "inode-exhaustion");
    assert.equal(names({ code: "enotfound", restart: {} })[0], "dns-cache-flush");
  });

  it("prefers a runbook whose parameters the service or the finding gives to one for any host", () => {
    const full = { check: "host", code: "disk_full" };
    assert.equal(names({ ...full, gives: ["spool"] })[0], "service-spool-full");
    assert.equal(names({ ...full, boundedFolder: true })[0], "service-spool-full");
    assert.equal(
      names({ ...full, type: "database", gives: ["folders"], boundedFolder: true })[0],
      "database-disk-full",
    );
    assert.notEqual(names({ ...full, gives: ["folders"] })[0], "service-spool-full");
    assert.equal(names({ restart: {}, gives: ["lock_folders"] })[0], names({ restart: {} })[0]);
  });

  it("prefers the one that the service names", () => {
    const named = "application-cache-clear";
    assert.equal(names({ restart: {}, code: "refused", named })[0], named);
  });

  it("uses the words of a report, and else its category", () => {
    const report = { check: "report", code: "reported", text: "The OOM killer took billing" };
    assert.equal(names({ ...report, restart: {}, category: "compute" })[0], "out-of-memory-kill");
    assert.equal(names({ ...report, restart: {}, category: "dns" })[0], "restart-service");
    assert.deepEqual(names(report), []);
  });

  it("finds nothing where no runbook is written", () => {
    assert.deepEqual(names({ check: "certificate", code: "wrong_name", category: "other" }), []);
    assert.deepEqual(names({ check: "log", code: "unheard_of" }), []);
  });
});
