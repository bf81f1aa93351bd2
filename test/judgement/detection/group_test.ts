import assert from "node:assert/strict";
import {
  type Dependencies,
  type Groupable,
  groupFindings,
  isUnusual,
  measureDeviation,
} from "../../../judgement/detection/mod.ts";
import type { Severity } from "../../../contract/domain/mod.ts";

/** Creates dependencies. `{ web: ["db"] }`: web depends on db. */
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
/** Creates the finding that a service fails its probe. */
const down = (service: string, rest: Partial<Fault> = {}) =>
  fault(service, { service, detector: "service_probes", code: "refused", ...rest });
/** Creates the finding that a host's disk is full. */
const full = (host: string, rest: Partial<Fault> = {}) =>
  fault(`disk of ${host}`, { detector: "host_resources", code: "disk_full", host, ...rest });

/** Creates the finding that a service is slow. @param excess seconds that its requests lost @param score how unusual that is */
const slow = (service: string, excess: number, score = 10) =>
  down(service, {
    code: "slow",
    severity: "medium",
    deviation: { kind: "latency", excess, score },
  });
/** Creates the finding that requests of a service fail. */
const failing = (service: string, excess: number, score = excess) =>
  down(service, { code: "error_rate", deviation: { kind: "errors", excess, score } });

/** Returns roots, each with the findings of its group. */
function groups(findings: readonly Fault[], dependencies: Dependencies) {
  return Object.fromEntries(
    groupFindings(findings, dependencies).map(({ root, others }) => [
      root.fingerprint,
      others.map(({ fingerprint }) => fingerprint),
    ]),
  );
}

describe("groupFindings()", () => {
  it("makes no incident of no finding, and one of one", () => {
    assert.deepEqual(groups([], graph({})), {});
    assert.deepEqual(groups([down("web")], graph({})), { web: [] });
  });

  it("separates unrelated faults", () => {
    assert.deepEqual(groups([down("web"), down("mail")], graph({ web: ["db"], mail: ["dns"] })), {
      mail: [],
      web: [],
    });
  });

  it("makes the deepest failing dependency the root, with the nearest finding first", () => {
    const chain = graph({ web: ["api"], api: ["db"], db: ["storage"] });
    assert.deepEqual(groups([down("web"), down("api"), down("db")], chain), { db: ["api", "web"] });
  });

  it("finds a cause behind a service that is not probed or passes", () => {
    const chain = graph({ web: ["queue"], queue: ["broker"], broker: ["db"] });
    assert.deepEqual(groups([down("web"), down("db")], chain), { db: ["web"] });
  });

  it("doesn't make a service the cause of its dependency", () => {
    const chain = graph({ web: ["db"] });
    assert.deepEqual(groups([down("web", { severity: "critical" }), down("db")], chain), {
      db: ["web"],
    });
  });

  it("groups a full disk with the services on its host and those that depend on them", () => {
    const dependencies = graph({ web: ["db"], db: [] }, { web: "app1", db: "db1", mail: "app1" });
    const findings = [down("web"), down("db"), full("db1")];
    assert.deepEqual(groups(findings, dependencies), { "disk of db1": ["db", "web"] });
    assert.deepEqual(groups([down("web"), full("db1")], dependencies), { "disk of db1": ["web"] });
    assert.deepEqual(groups([down("mail"), full("db1")], dependencies), {
      "disk of db1": [],
      mail: [],
    });
  });

  it("prefers the service of a disk to its host", () => {
    const dependencies = graph({ web: ["db"] }, { web: "h", db: "h", mail: "h" });
    const disk = full("h", { service: "db" });
    assert.deepEqual(groups([down("web"), down("db"), down("mail"), disk], dependencies), {
      "disk of h": ["db", "web"],
      mail: [],
    });
  });

  it("doesn't make a warning the cause of a failure", () => {
    const dependencies = graph({ web: ["db"] }, { web: "h", db: "h" });
    const filling = full("h", { code: "disk_filling", severity: "medium" });
    const expires = fault("cert", {
      service: "web",
      detector: "certificates",
      code: "expires_soon",
    });
    assert.deepEqual(groups([down("web"), filling, expires], dependencies), {
      cert: [],
      "disk of h": [],
      web: [],
    });
  });

  it("makes an expired certificate the cause of its service's failure, and of those that depend on it", () => {
    const expired = fault("cert", { service: "api", detector: "certificates", code: "expired" });
    assert.deepEqual(groups([down("api"), down("web"), expired], graph({ web: ["api"] })), {
      cert: ["api", "web"],
    });
  });

  it("doesn't make a failing service the cause of an expired certificate or a full disk", () => {
    const expired = fault("cert", { service: "web", detector: "certificates", code: "expired" });
    const disk = full("h", { service: "web" });
    const made = groups([down("db"), expired, disk], graph({ web: ["db"] }, { db: "h", web: "h" }));
    assert.deepEqual(Object.keys(made).sort(), ["cert", "db", "disk of h"]);
  });

  it("treats errors in a log as signs, never as a cause", () => {
    const errors = (service: string) =>
      fault(`log of ${service}`, { service, detector: "logs", code: "error_rate" });
    const chain = graph({ web: ["db"] });
    assert.deepEqual(groups([errors("web"), down("db")], chain), { db: ["log of web"] });
    assert.deepEqual(groups([errors("db"), down("web")], chain), { "log of db": [], web: [] });
    assert.deepEqual(groups([errors("web"), down("web")], chain), { web: ["log of web"] });
  });

  it("explains only waiting by a slow service or a busy host", () => {
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

  describe("among measured findings", () => {
    it("explains a caller by a service that lost at least half as much, however deep", () => {
      const chain = graph({ web: ["api"], api: ["db"] });
      assert.deepEqual(groups([slow("web", 8), slow("api", 7), slow("db", 6)], chain), {
        db: ["api", "web"],
      });
      assert.deepEqual(groups([slow("web", 8), slow("db", 4)], chain), { db: ["web"] });
      assert.deepEqual(groups([slow("web", 8), slow("db", 3.9)], chain), { db: [], web: [] });
    });

    it("doesn't make the deepest the root where another lost much more", () => {
      const chain = graph({ web: ["api"], api: ["db"] });
      assert.deepEqual(groups([slow("web", 8), slow("api", 20), slow("db", 1)], chain), {
        api: ["web"],
        db: [],
      });
      const wide = graph({ web: ["api"], api: ["db", "cache"] });
      const findings = [failing("web", 9), failing("api", 30), failing("db", 12)];
      assert.deepEqual(groups(findings, wide), { api: ["web"], db: [] });
    });

    it("groups with the root that weighs most by its loss and by how unusual that is", () => {
      const wide = graph({ web: ["api", "batch"], batch: ["batch-db"] });
      const web = slow("web", 8, 2);
      const apiBeforeNoise = [web, slow("api", 10, 50), slow("batch-db", 20, 5)];
      assert.deepEqual(groups(apiBeforeNoise, wide), { api: ["web"], "batch-db": [] });
      const apiBeforeFew = [web, slow("api", 40, 20), slow("batch-db", 5, 50)];
      assert.deepEqual(groups(apiBeforeFew, wide), { api: ["web"], "batch-db": [] });
    });

    it("compares one kind of measurement only", () => {
      const chain = graph({ web: ["db"] });
      assert.deepEqual(groups([failing("web", 5), slow("db", 60)], chain), { db: [], web: [] });
    });

    it("explains one that hardly deviates by any that does", () => {
      assert.deepEqual(groups([slow("web", -0.1, -1), slow("db", 3)], graph({ web: ["db"] })), {
        db: ["web"],
      });
    });

    it("judges by depth alone what is not measured", () => {
      const chain = graph({ web: ["api"], api: ["db"] });
      const unmeasured = down("db", { code: "slow", severity: "medium" });
      assert.deepEqual(groups([slow("web", 8), slow("api", 9), unmeasured], chain), {
        db: ["api", "web"],
      });
      const wide = graph({ web: ["api", "queue"], queue: ["db"] });
      assert.deepEqual(groups([slow("web", 8), slow("api", 90), down("db")], wide), {
        api: [],
        db: ["web"],
      });
    });

    it("makes the most unusual one the root of a cycle", () => {
      const cycle = graph({ a: ["b"], b: ["a"] });
      assert.deepEqual(groups([slow("a", 8, 4), slow("b", 8, 9)], cycle), { b: ["a"] });
    });
  });

  const ISOLATED = [
    "brute_force",
    "invalid_users",
    "break_in_attempt",
    "login_after_failures",
    "ledger_broken",
    "new_templates",
  ];
  for (const code of ISOLATED) {
    it(`keeps ${code} an incident of its own`, () => {
      const apart = fault("apart", { service: "db", detector: "logs", code, host: "h" });
      const chain = graph({ web: ["db"] }, { db: "h", web: "h" });
      assert.deepEqual(groups([apart, down("db"), down("web"), full("h")], chain), {
        apart: [],
        "disk of h": ["db", "web"],
      });
    });
  }

  it("makes two incidents of two roots, and groups what both could cause with the deeper one", () => {
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

  it("finds a cause behind a cycle", () => {
    const cycle = graph({ a: ["b"], b: ["a", "db"] });
    assert.deepEqual(groups([down("a"), down("b"), down("db")], cycle), { db: ["a", "b"] });
  });

  it("makes no incident whose root does not count yet", () => {
    const chain = graph({ web: ["db"] });
    const findings = [down("web"), down("db", { counts: false })];
    assert.deepEqual(groups(findings, chain), {});
    assert.deepEqual(groups([...findings, down("mail")], chain), { mail: [] });
  });

  it("leaves out findings that do not count yet", () => {
    const chain = graph({ web: ["db"], api: ["db"] });
    const findings = [down("web", { counts: false }), down("api"), down("db")];
    assert.deepEqual(groups(findings, chain), { db: ["api"] });
  });

  it("makes an incident critical where others fail with a service", () => {
    const severity = (...findings: Fault[]): Severity | undefined =>
      groupFindings(findings, graph({ web: ["db"] }))[0]?.severity;
    assert.equal(severity(down("db")), "high");
    assert.equal(severity(down("db"), down("web")), "critical");
    const expired = fault("tls", { service: "web", detector: "certificates", code: "expired" });
    assert.equal(severity(expired, down("web")), "high", "its own check is no other service");
    assert.equal(severity(down("db", { code: "slow", severity: "medium" })), "medium");
  });

  it("returns the worst incident first", () => {
    const findings = [
      down("a", { severity: "low" }),
      down("b", { severity: "critical" }),
      down("c", { severity: "medium" }),
    ];
    const roots = groupFindings(findings, graph({})).map(({ root }) => root.fingerprint);
    assert.deepEqual(roots, ["b", "c", "a"]);
  });

  it("groups every finding once, and in any order the same, in random graphs", () => {
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
        ...names.filter(() => random() < 0.6).map((name) =>
          random() < 0.5 ? down(name) : slow(name, pick(9), pick(9))
        ),
        ...["h0", "h1", "h2"].filter(() => random() < 0.3).map((host) => full(host)),
      ];
      const made = groupFindings(findings, dependencies);
      const all = made.flatMap(({ root, others }) => [root, ...others]);
      const message = `seed ${seed}, round ${round}`;
      assert.deepEqual(
        all.map((f) => f.fingerprint).sort(),
        findings.map((f) => f.fingerprint).sort(),
        message,
      );
      const shuffled = [...findings].sort(() => random() - 0.5);
      assert.deepEqual(groupFindings(shuffled, dependencies), made, message);
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

describe("measureDeviation()", () => {
  it("returns what all requests lost, and how often the usual spread each of them is off", () => {
    const latency = { kind: "latency", value: 0.5, usual: 0.2, spread: 0.1, requests: 40 } as const;
    const { kind, excess, score } = measureDeviation(latency);
    assert.deepEqual([kind, excess.toFixed(6), score.toFixed(6)], [
      "latency",
      "12.000000",
      "3.000000",
    ]);
    const errors = { kind: "errors", value: 9, usual: 1, spread: 2 } as const;
    assert.deepEqual(measureDeviation(errors), { kind: "errors", excess: 8, score: 4 });
  });

  it("takes a past without any change for a short one", () => {
    const errors = { kind: "errors", usual: 0, spread: 0 } as const;
    assert.equal(isUnusual(measureDeviation({ ...errors, value: 2 })), false);
    assert.equal(isUnusual(measureDeviation({ ...errors, value: 3 })), true);
    const latency = { kind: "latency", usual: 1, spread: 0 } as const;
    assert.equal(isUnusual(measureDeviation({ ...latency, value: 1.05 })), false);
    assert.equal(isUnusual(measureDeviation({ ...latency, value: 1.07 })), true);
    assert.equal(measureDeviation({ ...latency, value: 0, usual: 0 }).score, 0);
  });
});

/** @see Park and Miller, 1988 */
function generator(seed: number): () => number {
  let state = seed % 2147483647 || 1;
  return () => (state = state * 48271 % 2147483647) / 2147483647;
}
