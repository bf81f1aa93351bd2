import assert from "node:assert/strict";
import type { NumberedObservation, ObserverName } from "../../../contract/domain/mod.ts";
import { judgeCause } from "../../../judgement/observation/mod.ts";

type Figures = NonNullable<NumberedObservation["figures"]>;
/** A source with what it measured, or with the words that it read. */
type Seen = readonly [source: ObserverName, seen: Figures | string];

/** Judges observations, numbered from 1. */
function judge(code: string, ...seen: readonly Seen[]) {
  const observations = seen.map(([source, one], index): NumberedObservation => ({
    number: index + 1,
    round: 1,
    source,
    code: "seen",
    says: "It was seen.",
    ...(typeof one === "string" ? { text: one } : { figures: one }),
  }));
  return judgeCause("shop", { code, observations });
}

const causeOf = (code: string, ...seen: readonly Seen[]) => judge(code, ...seen).cause;

describe("causes of faults", () => {
  it("names what was measured, with the observations that say so", () => {
    const judged = judge("status_500", ["port", { listening: true }], [
      "process",
      { open_files_share: 1 },
    ]);
    assert.equal(judged.cause, "descriptors_exhausted");
    assert.deepEqual(judged.observations, [2]);
    assert.equal(judged.support, 0.85);
    assert.equal(judged.confidence, 0.91); // 9 of 9 with such a support were right: (9 + 1) / (9 + 2)
    assert.equal(judged.category, "compute");
    assert.match(String(judged.says), /^shop has no file descriptor left/);
  });

  const MEASURED: readonly (readonly [cause: string, code: string, ...seen: Seen[]])[] = [
    ["memory_exhausted", "status_500", ["process", { memory_share: 0.97 }]],
    ["memory_exhausted", "refused", ["container", { memory_killed: true }]],
    ["memory_exhausted", "refused", ["unit", { Result: "oom-kill" }]],
    ["deadlock", "timeout", ["process", { lock_waits: 3, cpu_share: 0, answer_waits: 0 }]],
    ["busy_loop", "timeout", ["process", { cpu_demand: 0.99, lock_waits: 0 }]],
    ["process_stopped", "timeout", ["process", { state: "stopped" }]],
    ["process_killed", "refused", ["output", { running: false, ended_by: "sigkill" }]],
    ["crashed", "refused", ["output", { running: false, ended_by: "sigsegv" }]],
    ["bad_configuration", "refused", ["changes", { settings_invalid: true }]],
    ["bad_configuration", "refused", ["output", { running: false }], [
      "changes",
      { setting_deployed: true, newest_setting_age_s: 20 },
    ]],
    ["port_taken", "status_404", ["port", { foreign: true, listening: true }]],
    ["clock_wrong", "status_401", ["check", { clock_offset_s: -7_200 }]],
    ["disk_full", "status_503", ["storage", { fullest_percent: 100 }]],
    ["certificate_expired", "cert_has_expired", ["certificate", { expired: true }]],
    ["certificate_untrusted", "status_502", ["certificate", { trusted: false }]],
    ["certificate_wrong_name", "status_502", ["certificate", { matches_name: false }]],
    ["name_unresolved", "status_500", ["names", { resolved: false, unresolved: "setting" }]],
    ["name_unresolved", "status_503", ["names", {
      resolved: false,
      unresolved: "file",
      reason: "enotfound",
    }]],
    ["dependency_down", "status_502", ["dependencies", { healthy: false, down: "dependency" }]],
    ["dependency_slow", "timeout", ["dependencies", { late: "dependency", elapsed_ms: 4_000 }]],
    ["dependency_slow", "slow", ["dependencies", { elapsed_ms: 700, times_usual: 20 }]],
    ["dependency_slow", "timeout", ["process", { answer_waits: 2, cpu_share: 0 }]],
  ];
  for (const [cause, code, ...seen] of MEASURED) {
    it(`names ${cause} by ${seen.map(([source]) => source).join(" and ")}`, () => {
      assert.equal(causeOf(code, ...seen), cause);
    });
  }

  it("takes no proxy that says that what is behind it fails for a program in the way", () => {
    assert.equal(causeOf("status_503", ["port", { foreign: true, listening: true }]), null);
  });

  const WORDS: readonly (readonly [cause: string, words: string])[] = [
    ["descriptors_exhausted", "java.net.SocketException: Too many open files"],
    [
      "descriptors_exhausted",
      "http: Accept error: accept tcp [::]:80: accept4: too many open files",
    ],
    ["memory_exhausted", 'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space'],
    [
      "memory_exhausted",
      "fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nmain.main()",
    ],
    [
      "memory_exhausted",
      "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
    ],
    ["deadlock", "fatal error: all goroutines are asleep - deadlock!"],
    ["deadlock", "ERROR:  deadlock detected\nDETAIL:  Process 1 waits for ShareLock"],
    ["bad_configuration", 'nginx: [emerg] unknown directive "lisen" in /etc/nginx/nginx.conf:3'],
    ["bad_configuration", 'FATAL:  unrecognized configuration parameter "shared_bufers"'],
    ["port_taken", "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)"],
    ["port_taken", "Error: listen EADDRINUSE: address already in use 127.0.0.1:3000"],
    ["port_taken", "Web server failed to start. Port 8080 was already in use."],
    ["clock_wrong", "Token used before issued"],
    ["disk_full", 'PANIC:  could not write to file "pg_wal/x": No space left on device'],
    ["disk_full", "sqlite3.OperationalError: database or disk is full"],
    [
      "certificate_expired",
      "tls: failed to verify certificate: x509: certificate has expired or is not yet valid",
    ],
    [
      "certificate_expired",
      "PKIX path validation failed: CertPathValidatorException: validity check failed",
    ],
    ["name_unresolved", "dial tcp: lookup db.internal on 10.0.0.2:53: no such host"],
    ["name_unresolved", "java.net.UnknownHostException: db.internal"],
    ["name_unresolved", "getaddrinfo ENOTFOUND db.internal"],
    ["name_unresolved", '[emerg] host not found in upstream "backend" in /etc/nginx/nginx.conf:9'],
    ["file_missing", "Error: Cannot find module './routes'"],
  ];
  for (const [cause, words] of WORDS) {
    it(`names ${cause} by “${words.slice(0, 50)}”`, () => {
      assert.equal(causeOf("status_500", ["check", words]), cause);
      assert.equal(causeOf("refused", ["output", words]), cause);
    });
  }

  const RULED_OUT: readonly (readonly [cause: string, words: string, ...against: Seen[]])[] = [
    ["descriptors_exhausted", "Too many open files", ["process", { files_spare: true }]],
    ["memory_exhausted", "out of memory", ["process", { memory_spare: true }]],
    ["deadlock", "deadlock detected", ["dependencies", { down: "dependency", reason: "timeout" }]],
    ["port_taken", "Address already in use", ["port", { foreign: false, listening: true }]],
    ["clock_wrong", "token used before issued", ["check", { clock_offset_s: 0 }]],
    ["disk_full", "No space left on device", ["storage", { host_fullest_percent: 40 }]],
    ["certificate_expired", "certificate has expired", ["certificate", { expired: false }]],
    ["dependency_slow", "upstream timed out", ["dependencies", { elapsed_ms: 3 }]],
  ];
  for (const [cause, words, ...against] of RULED_OUT) {
    it(`does not name ${cause} where a measurement contradicts the words`, () => {
      const { cause: named, alternatives } = judge("status_500", ["output", words], ...against);
      assert.notEqual(named, cause);
      const other = alternatives.find((one) => one.cause === cause)!;
      assert.deepEqual(other.observations, [1]);
      assert.doesNotMatch(other.because, /speaks for it/);
    });
  }

  it("does not rule out what one of several processes shows", () => {
    const cause = causeOf("status_500", ["process", { files_spare: true, open_files_share: 0.1 }], [
      "process",
      { files_spare: false, open_files_share: 0.98 },
    ]);
    assert.equal(cause, "descriptors_exhausted");
  });

  it("needs all of a sign's figures in one process", () => {
    const cause = causeOf("timeout", ["process", {
      lock_waits: 4,
      cpu_share: 0.7,
      answer_waits: 0,
    }], [
      "process",
      { lock_waits: 0, cpu_share: 0, answer_waits: 0 },
    ]);
    assert.equal(cause, null);
  });

  it("prefers a measurement to words, and the failed check's words to those of a log", () => {
    const old: Seen = ["log", "write failed: no space left on device"];
    assert.equal(
      causeOf("status_500", old, ["process", { open_files_share: 1 }]),
      "descriptors_exhausted",
    );
    assert.equal(
      causeOf("status_500", ["check", "getaddrinfo ENOTFOUND db"], old),
      "name_unresolved",
    );
  });

  it("adds what several sources say", () => {
    const alone = judge("status_500", ["output", "MemoryError"]);
    const both = judge("status_500", ["output", "MemoryError"], ["process", { memory_share: 0.9 }]);
    assert.ok(both.support > alone.support && both.support < 1);
    assert.ok(both.confidence > alone.confidence && both.confidence < 1);
    assert.deepEqual(both.observations, [1, 2]);
  });

  it("takes the newest of words that are as good", () => {
    const first = "write failed: No space left on device";
    const then = "connect: Too many open files";
    assert.equal(causeOf("status_500", ["output", `${first}\n${then}`]), "descriptors_exhausted");
    assert.equal(causeOf("status_500", ["output", `${then}\n${first}`]), "disk_full");
  });

  it("prefers the weakest measurement to words of a log", () => {
    const deployed: Seen = ["changes", { setting_deployed: true, newest_setting_age_s: 20 }];
    assert.equal(causeOf("status_500", ["log", "out of memory"], deployed), "bad_configuration");
  });

  const UNKNOWN: readonly (readonly [why: string, ...seen: Seen[]])[] = [
    ["nothing was seen"],
    ["nothing is unusual", ["check", "internal error"], ["process", {
      memory_share: 0.3,
      open_files_share: 0.01,
      lock_waits: 0,
      cpu_share: 0,
    }]],
    ["many lines came after the words", [
      "log",
      `Too many open files\n${"request served\n".repeat(20)}`,
    ]],
    ["the line is at the level of information", ["log", "INFO watching for out of memory"]],
    ["the words are denied", ["log", "health: no deadlock"]],
    ["it is over", ["log", "disk full resolved by cleaning"]],
    ["it was another time", [
      "check",
      '{"status":"down","last_incident":"certificate has expired"}',
    ]],
    ["settings that nobody uses name a host", ["names", { resolved: false, unresolved: "file" }]],
    ["settings alone were changed", ["changes", {
      newest_setting_age_s: 60,
      settings_invalid: false,
    }]],
  ];
  for (const [why, ...seen] of UNKNOWN) {
    it(`names none where ${why}`, () => {
      const judged = judge("status_500", ...seen);
      assert.equal(judged.cause, null);
      assert.equal(judged.confidence, 0);
      assert.equal(judged.category, null);
      assert.match(String(judged.says), /not known; the symptom is status 500/);
    });
  }
});
