import assert from "node:assert/strict";
import { type Dependencies, type Groupable, groupFindings } from "../../detection/mod.ts";
import type { Severity } from "../../domain/mod.ts";

/** `{web: ["db"]}`: web depends on db. */
function graph(
  dependsOn: Readonly<Record<string, readonly string[]>>,
  hosts: Readonly<Record<string, string>> = {},
): Dependencies {
  return { dependsOn: new Map(Object.entries(dependsOn)), hosts: new Map(Object.entries(hosts)) };
}

type Fault = Groupable & { readonly fingerprint: string };
const fault = (
  fingerprint: string,
  rest: Partial<Fault> & Pick<Fault, "detector" | "code">,
): Fault => ({ service: null, host: null, severity: "high", ...rest, fingerprint });
/** A service that fails its probe. */
const down = (service: string, rest: Partial<Fault> = {}) =>
  fault(service, { service, detector: "service_probes", code: "refused", ...rest });
/** A host whose disk is full. */
const full = (host: string, rest: Partial<Fault> = {}) =>
  fault(`disk of ${host}`, { detector: "host_resources", code: "disk_full", host, ...rest });

/** Roots with what is grouped under them. */
function groups(findings: readonly Fault[], dependencies: Dependencies) {
  return Object.fromEntries(
    groupFindings(findings, dependencies).map(({ root, others }) => [
      root.fingerprint,
      others.map(({ fingerprint }) => fingerprint),
    ]),
  );
}

describe("groupFindings()", () => {
  it("gives nothing for nothing, and one incident for one finding", () => {
    assert.deepEqual(groups([], graph({})), {});
    assert.deepEqual(groups([down("web")], graph({})), { web: [] });
  });

  it("keeps faults apart that have nothing to do with each other", () => {
    assert.deepEqual(groups([down("web"), down("mail")], graph({ web: ["db"], mail: ["dns"] })), {
      mail: [],
      web: [],
    });
  });

  it("makes the deepest failing dependency the root, and puts the nearest to it first", () => {
    const chain = graph({ web: ["api"], api: ["db"], db: ["storage"] });
    assert.deepEqual(groups([down("web"), down("api"), down("db")], chain), { db: ["api", "web"] });
  });

  it("sees a cause behind a service that nobody probes, or that seems to be up", () => {
    const chain = graph({ web: ["queue"], queue: ["broker"], broker: ["db"] });
    assert.deepEqual(groups([down("web"), down("db")], chain), { db: ["web"] });
  });

  it("doesn't take a service that depends on another for the cause of that one's failing", () => {
    const chain = graph({ web: ["db"] });
    assert.deepEqual(groups([down("web", { severity: "critical" }), down("db")], chain), {
      db: ["web"],
    });
  });

  it("makes one incident of a full disk and all that fails on its host, and of what needs that", () => {
    const dependencies = graph({ web: ["db"], db: [] }, { web: "app1", db: "db1", mail: "app1" });
    const findings = [down("web"), down("db"), full("db1")];
    assert.deepEqual(groups(findings, dependencies), { "disk of db1": ["db", "web"] });
    assert.deepEqual(groups([down("web"), full("db1")], dependencies), { "disk of db1": ["web"] });
    assert.deepEqual(groups([down("mail"), full("db1")], dependencies), {
      "disk of db1": [],
      mail: [],
    });
  });

  it("believes a disk's own service rather than its host", () => {
    const dependencies = graph({ web: ["db"] }, { web: "h", db: "h", mail: "h" });
    const disk = full("h", { service: "db" });
    assert.deepEqual(groups([down("web"), down("db"), down("mail"), disk], dependencies), {
      "disk of h": ["db", "web"],
      mail: [],
    });
  });

  it("doesn't take a warning for the cause of a failure", () => {
    const dependencies = graph({ web: ["db"] }, { web: "h", db: "h" });
    const filling = full("h", { code: "disk_filling", severity: "medium" });
    const expires = fault("cert", {
      ...{ service: "web", detector: "certificates", code: "expires_soon" },
    });
    assert.deepEqual(groups([down("web"), filling, expires], dependencies), {
      cert: [],
      "disk of h": [],
      web: [],
    });
  });

  it("takes an expired certificate for the cause of its service's failing, and of what needs it", () => {
    const expired = fault("cert", { service: "api", detector: "certificates", code: "expired" });
    assert.deepEqual(groups([down("api"), down("web"), expired], graph({ web: ["api"] })), {
      cert: ["api", "web"],
    });
  });

  it("doesn't take a service that is down for the cause of an expired certificate or a full disk", () => {
    const expired = fault("cert", { service: "web", detector: "certificates", code: "expired" });
    const disk = full("h", { service: "web" });
    const made = groups([down("db"), expired, disk], graph({ web: ["db"] }, { db: "h", web: "h" }));
    assert.deepEqual(Object.keys(made).sort(), ["cert", "db", "disk of h"]);
  });

  it("takes a rise of errors in a log for a sign, never for a cause", () => {
    const errors = (service: string) =>
      fault(`log of ${service}`, { service, detector: "logs", code: "error_rate" });
    const chain = graph({ web: ["db"] });
    assert.deepEqual(groups([errors("web"), down("db")], chain), { db: ["log of web"] });
    assert.deepEqual(groups([errors("db"), down("web")], chain), { "log of db": [], web: [] });
    assert.deepEqual(groups([errors("web"), down("web")], chain), { web: ["log of web"] });
  });

  it("explains by a slow service or a busy host only what waits", () => {
    const slow = down("db", { code: "slow", severity: "medium" });
    const chain = graph({ web: ["db"] }, { web: "h" });
    assert.deepEqual(groups([slow, down("web", { code: "timeout" })], chain), { db: ["web"] });
    assert.deepEqual(groups([slow, down("web", { code: "exit_1" })], chain), { db: [], web: [] });
    const busy = full("h", { code: "load_high", severity: "medium" });
    assert.deepEqual(groups([busy, down("web", { code: "slow" })], chain), {
      "disk of h": ["web"],
    });
    assert.deepEqual(groups([busy, down("web")], chain), { "disk of h": [], web: [] });
  });

  for (
    const code of [
      ...["brute_force", "invalid_users", "break_in_attempt", "login_after_failures"],
      ...["ledger_broken", "new_templates"],
    ]
  ) {
    it(`keeps ${code} an incident of its own`, () => {
      const apart = fault("apart", { service: "db", detector: "logs", code, host: "h" });
      const chain = graph({ web: ["db"] }, { db: "h", web: "h" });
      assert.deepEqual(groups([apart, down("db"), down("web"), full("h")], chain), {
        apart: [],
        "disk of h": ["db", "web"],
      });
    });
  }

  it("makes two incidents of two roots, and gives what both could have caused to the deeper one", () => {
    const dependencies = graph({ web: ["cache", "api"], api: ["db"] });
    assert.deepEqual(groups([down("web"), down("cache"), down("db")], dependencies), {
      cache: [],
      db: ["web"],
    });
  });

  it("makes one incident of a cycle, with the worst as its root", () => {
    const cycle = graph({ a: ["b"], b: ["c"], c: ["a"], web: ["a"] });
    const findings = [down("a"), down("b", { severity: "critical" }), down("c"), down("web")];
    assert.deepEqual(groups(findings, cycle), { b: ["a", "c", "web"] });
    assert.deepEqual(groups([down("a")], graph({ a: ["a"] })), { a: [] });
  });

  it("looks behind a cycle", () => {
    const cycle = graph({ a: ["b"], b: ["a", "db"] });
    assert.deepEqual(groups([down("a"), down("b"), down("db")], cycle), { db: ["a", "b"] });
  });

  it("waits with an incident whose likely root has not been seen often enough", () => {
    const chain = graph({ web: ["db"] });
    const findings = [down("web"), down("db", { counts: false })];
    assert.deepEqual(groups(findings, chain), {});
    assert.deepEqual(groups([...findings, down("mail")], chain), { mail: [] });
  });

  it("leaves out what does not count yet of an incident that does", () => {
    const chain = graph({ web: ["db"], api: ["db"] });
    const findings = [down("web", { counts: false }), down("api"), down("db")];
    assert.deepEqual(groups(findings, chain), { db: ["api"] });
  });

  it("calls an incident critical where a service is down that others fail with", () => {
    const severity = (...findings: Fault[]): Severity | undefined =>
      groupFindings(findings, graph({ web: ["db"] }))[0]?.severity;
    assert.equal(severity(down("db")), "high");
    assert.equal(severity(down("db"), down("web")), "critical");
    assert.equal(severity(down("db", { code: "slow", severity: "medium" })), "medium");
  });

  it("finds every finding once, and the same in any order, in random graphs", () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = generator(seed);
    const pick = (n: number) => Math.floor(random() * n);
    for (let round = 0; round < 200; round++) {
      const names = Array.from({ length: 2 + pick(12) }, (_, i) => `s${i}`);
      const dependencies = graph(
        Object.fromEntries(
          names.map((name) => [name, names.filter(() => random() < 0.2)]),
        ),
        Object.fromEntries(names.map((name) => [name, `h${pick(3)}`])),
      );
      const findings = [
        ...names.filter(() => random() < 0.6).map((name) => down(name)),
        ...["h0", "h1", "h2"].filter(() => random() < 0.3).map((host) => full(host)),
      ];
      const made = groupFindings(findings, dependencies);
      const all = made.flatMap(({ root, others }) => [root, ...others]);
      const says = `seed ${seed}, round ${round}`;
      assert.deepEqual(
        all.map((f) => f.fingerprint).sort(),
        findings.map((f) => f.fingerprint).sort(),
        says,
      );
      const shuffled = [...findings].sort(() => random() - 0.5);
      assert.deepEqual(groupFindings(shuffled, dependencies), made, says);
    }
  });

  it("groups 2,000 findings in a graph of 10,000 services", () => {
    const names = Array.from({ length: 10_000 }, (_, i) => `s${i}`);
    const dependencies = graph(
      Object.fromEntries(
        names.map((name, i) => [name, [1, 2, 3, 5, 8].flatMap((d) => names[i + d * 7] ?? [])]),
      ),
    );
    const made = groupFindings(names.slice(-2_000).map((name) => down(name)), dependencies);
    assert.ok(made.length < 100);
    assert.equal(made.flatMap(({ root, others }) => [root, ...others]).length, 2_000);
  });
});

/** @see Park and Miller, 1988 */
function generator(seed: number): () => number {
  let state = seed % 2147483647 || 1;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}
