import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { CHECK_RESULTS } from "../../../contract/domain/mod.ts";
import { countChecks, shippedShieldPolicy } from "../../../judgement/shield/mod.ts";
import { judge, judgePosture, NOW, policyOf, RIGHT, RIGHT_FIREWALL, RULES } from "./_device.ts";

const DAY_SECONDS = 86_400;
const IDS = shippedShieldPolicy().policies.map(({ id }) => id);
const all = (result: string) => Object.fromEntries(IDS.map((id) => [id, result]));

describe("the shield's judgement", () => {
  it("passes a device on which everything is right", () => {
    assert.deepEqual(judge(), all("pass"));
  });

  it("passes nothing that a device does not tell", () => {
    for (const inventory of [{}, { posture: null }, { posture: { sshd: [], uid_0: "root" } }]) {
      assert.deepEqual(judge({ inventory, firewall: null }), all("unknown"));
    }
    const nulls = Object.fromEntries(Object.keys(RIGHT.posture).map((name) => [name, null]));
    const inventory = { os: null, agent: null, listeners: null, posture: nulls };
    assert.deepEqual(judge({ inventory, firewall: null }), all("unknown"));
  });

  it("passes nothing of a device that is silent for long, or was never heard from", () => {
    const hours = (count: number) => new Date(NOW.getTime() - count * 3_600_000);
    assert.deepEqual(judge({ lastSeenAt: null }), all("unknown"));
    assert.deepEqual(judge({ lastSeenAt: hours(25) }), all("unknown"));
    assert.deepEqual(judge({ lastSeenAt: hours(23) }), all("pass"));
  });

  it("fails what is wrong", () => {
    const wrong = judge({
      inventory: {
        os: { id: "debian", version: "10" },
        agent: { version: "1.0.0", sha256: "c".repeat(64) },
        listeners: [{ protocol: "tcp", address: "::", port: 23 }],
        posture: {
          disk_encrypted: false,
          sshd: { installed: true, password_authentication: "yes", permit_root_login: "yes" },
          time_synchronized: false,
          uid_0: ["root", "toor"],
          updates: { pending: 9, security: 1, listed_at: NOW.getTime() / 1_000 },
        },
      },
      firewall: { ...RIGHT_FIREWALL, applied_sha256: null, observed_sha256: hash("sha256", "") },
    });
    assert.deepEqual(wrong, all("fail"));
  });

  it("leaves out what is not there to be checked", () => {
    const { "firewall-desired": firewall } = judge({ desiredFirewall: undefined });
    const { "ssh-root": root } = judgePosture({ sshd: { installed: false } });
    const { "firewall-desired": onMac } = judge({ platform: "macos" });
    const rolling = judge({ inventory: { ...RIGHT, os: { id: "arch", version: "" } } });
    for (const result of [firewall, root, onMac, rolling["supported-release"]]) {
      assert.equal(result, "not_applicable");
    }
    const judged = [...CHECK_RESULTS, "pass" as const].map((result) => ({ result }));
    assert.deepEqual(countChecks(judged), { passed: 2, failed: 1, unknown: 1 });
  });

  it("does not trust old lists of updates, nor lists from the future", () => {
    const at = (seconds: number) =>
      judgePosture({
        updates: { pending: 0, security: 0, listed_at: NOW.getTime() / 1_000 + seconds },
      })["security-updates"];
    assert.deepEqual(
      [-13, -15, 0.5, 2].map((days) => at(days * DAY_SECONDS)),
      ["pass", "unknown", "pass", "unknown"],
    );
  });

  it("knows drift from rules that were never applied, and from others", () => {
    const result = (changes: object) =>
      judge({ firewall: { ...RIGHT_FIREWALL, ...changes } })["firewall-desired"];
    assert.equal(result({}), "pass");
    assert.equal(result({ drift: true }), "fail");
    assert.equal(result({ drift: null }), "unknown");
    assert.equal(result({ applied_sha256: null, drift: null }), "fail");
    assert.equal(result({ applied_sha256: hash("sha256", `${RULES}#`) }), "fail");
    assert.equal(result({ backend: "pf" }), "unknown");
  });

  it("counts listeners on other addresses than loopback", () => {
    const policy = policyOf("{ listeners: { allowed: [tcp/22, udp/68] } }");
    const result = (listeners: unknown) =>
      judge({ inventory: { ...RIGHT, listeners }, policy }).own;
    const listener = (protocol: string, address: string, port: number) => ({
      protocol,
      address,
      port,
    });
    assert.equal(result([listener("tcp", "::1", 80), listener("tcp", "127.0.0.53", 53)]), "pass");
    assert.equal(result([listener("tcp", "0.0.0.0", 22), listener("udp", "10.0.0.1", 68)]), "pass");
    assert.equal(result([listener("udp", "0.0.0.0", 22)]), "fail");
    const many = Array.from({ length: 500 }, (_, n) => listener("tcp", "127.0.0.1", n + 1));
    assert.equal(result(many), "unknown", "the list may be cut");
  });

  it("knows the end of support of releases by their first parts, and on the last day", () => {
    const result = (os: object, days = 0) =>
      judge({
        inventory: { ...RIGHT, os },
        policy: policyOf(`{ release: { supported_for_days: ${days} } }`),
      }).own;
    assert.equal(result({ id: "rocky", version: "9.4" }), "pass");
    assert.equal(result({ id: "ubuntu", version: "20.04" }), "fail");
    assert.equal(result({ id: "debian", version: "11" }), "fail");
    assert.equal(result({ id: "macos", version: "13.7.8" }), "fail");
    assert.equal(result({ id: "macos", version: "26.3" }), "unknown");
    assert.equal(result({ id: "plan9", version: "4" }), "unknown");
    assert.equal(result({ id: "plan9", version: "4", support_end: "2026-11-23" }), "pass");
    assert.equal(result({ id: "plan9", version: "4", support_end: "2026-11-22" }), "fail");
    assert.equal(result({ id: "plan9", version: "4", support_end: "soon" }), "unknown");
    assert.equal(result({ id: "debian", version: "10", support_end: "2099-01-01" }), "fail");
    assert.equal(result({ id: "fedora", version: "43" }, 30), "fail");
  });
});
