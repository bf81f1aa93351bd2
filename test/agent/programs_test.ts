import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { testFolder } from "../_run.ts";
import { AGENT, type Device, enroll, PYTHON, readJson, runAgent } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";

describe("a program of the agent that commands can run", function () {
  let gateway: TestGateway;
  let device: Device;
  before(async () => {
    gateway = await new TestGateway().start();
    device = await enroll(gateway);
  });
  after(() => gateway.stop());

  describe("scan", () => {
    let server: Server;
    let port: number;
    before(async () => {
      server = createServer((socket) => socket.end());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
      port = (server.address() as AddressInfo).port;
    });
    after(() => server.close());

    it("and reach tells which machines answer, and how fast", async () => {
      const targets = [`127.0.0.2:${port}`, "127.0.0.3:1", "255.255.255.255:80"];
      const begunMs = performance.now();
      const { output } = await runAgent(
        "reach",
        "--state",
        device.state,
        "--targets",
        targets.join(),
      );
      const { peers } = JSON.parse(output) as {
        peers: { target: string; reachable: boolean; microseconds: number }[];
      };
      assert.deepEqual(peers.map(({ target, reachable }) => [target, reachable]), [
        [targets[0], true],
        [targets[1], true],
        [targets[2], false],
      ]);
      assert.ok(peers[0]!.microseconds < 1_000 * (performance.now() - begunMs));
      assert.equal(
        (await runAgent("reach", "--state", device.state, "--targets", "host:80")).code,
        1,
      );
    });

    it("finds the hosts of a network that accept connections", async () => {
      const targets = ["--targets", "127.0.0.0/29", "--ports", `${port},1`];
      const { code, output } = await runAgent("scan", "--state", device.state, ...targets);
      assert.equal(code, 0, output);
      const hosts = [{ address: "127.0.0.2", ports: [port] }];
      assert.deepEqual(JSON.parse(output), { hosts, scanned: 6 });
    });

    for (
      const [targets, ports] of [
        ["10.0.0.0/8", "22"],
        ["2001:db8::/32", "22"],
        ["nowhere", "22"],
        ["127.0.0.1", "70000"],
        ["127.0.0.1", Array.from({ length: 65 }, (_, n) => n + 1).join()],
      ] as const
    ) {
      it(`refuses ${targets} with ports ${ports.slice(0, 10)}`, async () => {
        const fields = ["--targets", targets, "--ports", ports];
        assert.equal((await runAgent("scan", "--state", device.state, ...fields)).code, 1);
      });
    }
  });

  describe("firewall", () => {
    const RULES =
      "chain input { type filter hook input priority 0; policy accept; tcp dport 23 drop; }";
    const LOCKING = "chain input { type filter hook input priority 0; policy drop; }";

    /** Applies rules in a network namespace of its own, where the platform listens, and returns what was in force after. */
    async function apply(...rules: readonly string[]) {
      const server = await testFolder();
      const { port } = new URL(gateway.address);
      const script = `ip link set lo up
        cd ${server}
        ${PYTHON} -m http.server --bind 127.0.0.1 ${port} >/dev/null 2>&1 &
        server=$!
        until ${PYTHON} -c 'import socket; socket.create_connection(("127.0.0.1", ${port}))' 2>/dev/null
        do sleep 0.1; done
        for rules; do
          case "$rules" in *"policy drop"*) within=4;; *) within=50;; esac
          ${PYTHON} -I ${AGENT} firewall "$rules" --within $within --state ${device.state} 2>&1; echo "exit $?"
          nft -s list ruleset
        done
        kill $server`;
      const argv = ["-rn", "--", "sh", "-c", script, "sh", ...rules];
      return await new Promise<string>((resolve) => {
        execFile("unshare", argv, (error, out, err) => resolve(`${out}${err}${error ?? ""}`));
      });
    }
    before(function () {
      try {
        execFileSync(
          "unshare",
          ["-rn", "--", "sh", "-c", "ip link set lo up && nft list ruleset"],
          {
            stdio: "ignore",
          },
        );
      } catch {
        console.log("    not run: it needs nft, ip, and unshare with user namespaces, or root");
        this.skip();
      }
    });

    it("puts rules in force with which the platform is reachable, and replaces them", async () => {
      const shown = await apply(RULES, RULES.replace("23", "24"));
      assert.match(shown, /exit 0[^]*tcp dport 23 drop[^]*exit 0[^]*tcp dport 24 drop/);
      assert.equal(shown.split("exit 0")[2]!.includes("dport 23"), false);
      const { rules_sha256 } = readJson(join(device.state, "runner", "firewall.json"));
      assert.match(String(rules_sha256), /^[0-9a-f]{64}$/);
    });

    it("takes rules back that lock the machine out, and puts those from before in force", async () => {
      const shown = await apply(RULES, LOCKING);
      const [, first, second] = shown.split(/exit \d/);
      assert.match(first!, /tcp dport 23 drop/);
      assert.match(first!, /was not reachable within 4 s; the rules from before are back/);
      assert.match(second!, /tcp dport 23 drop/);
      assert.doesNotMatch(second!, /policy drop/);
    });

    it("changes nothing where the rules are none", async () => {
      const shown = await apply("chain input { nonsense }");
      assert.match(shown, /no firewall rules: nonsense, in line 1, is not one\s+exit 1\s*$/);
    });
  });
});
