import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { testFolder } from "../../_run.ts";
import type { People } from "../../api/_people.ts";
import { addMachine, type Machine, openCommandPlatform, PYTHON } from "./_commands.ts";

/** The shipped script, but for a shorter time until rules are taken back. */
const SCRIPT = `
script: firewall-soon
version: 1
title: Put firewall rules in force, for a short time
about: As firewall-apply, with a time of the test's.
platforms: [linux]
parameters:
  rules: { about: The content of the table., pattern: "[\\\\s\\\\S]{1,16000}", lines: true }
  seconds: { about: Until they are taken back., pattern: "[0-9]{1,2}" }
argv: [sealoop-agent, firewall, "{rules}", --within, "{seconds}"]
timeout_seconds: 60
read_only: false
undo: { none: Rules are put back by others. }
`;
/** Carries connections in the namespace to a socket outside of it, as a network would. */
const RELAY = `
import os, socket, sys, threading, time
def end_with(parent):
    while os.getppid() == parent: time.sleep(0.2)
    os._exit(0)
threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
def copy(a, b):
    try:
        while True:
            data = a.recv(65536)
            if not data: break
            b.sendall(data)
    except OSError:
        pass
    for one in (a, b):
        try: one.shutdown(socket.SHUT_RDWR)
        except OSError: pass
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    inside, _ = server.accept()
    outside = socket.socket(socket.AF_UNIX)
    outside.connect(sys.argv[2])
    for pair in ((inside, outside), (outside, inside)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
`;
const chain = (rules: string) => `chain input { type filter hook input priority 0; ${rules} }`;
const RULES = chain("policy accept; tcp dport 23 drop;");
const LOCKING = chain("policy drop;");

describe("firewall rules that a device is told to put in force", function () {
  let people: People;
  let machine: Machine;
  let door: Server;
  let folder: string;
  before(async function () {
    try {
      const check = "ip link set lo up && nft list ruleset";
      execFileSync("unshare", ["-rn", "--", "sh", "-c", check], { stdio: "ignore" });
    } catch {
      console.log("    not run: it needs nft, ip, and unshare with user namespaces, or root");
      return this.skip();
    }
    folder = await testFolder();
    const scripts = join(folder, "scripts");
    mkdirSync(scripts);
    writeFileSync(join(scripts, "firewall-soon.yaml"), SCRIPT);
    people = await openCommandPlatform({ SEALOOP_SCRIPTS: scripts });
    const { port } = new URL(people.url);
    const path = join(folder, "door");
    door = createServer((inside) => {
      const outside = connect(Number(port), "127.0.0.1");
      inside.pipe(outside).pipe(inside);
      for (const one of [inside, outside]) one.on("error", () => inside.destroy());
    }).listen(path);
    await once(door, "listening");
    writeFileSync(join(folder, "relay.py"), RELAY);
    machine = await addMachine(people);
    const start = 'ip link set lo up; "$0" "$1" "$2" "$3" & shift 3; exec "$@"';
    const relay = [PYTHON, join(folder, "relay.py"), port, path];
    machine.start("unshare", "-rn", "--", "sh", "-c", start, ...relay);
  });
  after(async () => {
    await machine?.stop();
    door?.close();
    await people?.stop();
  });

  async function apply(rules: string, seconds: string) {
    const order = { script_id: "firewall-soon", parameters: { rules, seconds } };
    const { body } = await machine.order(order, "ann");
    if (body.approval_id) {
      await people.call("POST", `/v1/approvals/${body.approval_id}/approve`, "bob", {});
    }
    const { status } = await machine.until(body.command_id, "done", "failed", "timed_out");
    const output = await people.eventually(async () =>
      (await machine.read(body.command_id)).output as string | undefined || undefined
    );
    return { status, output };
  }

  it("stay where the platform is reachable with them, and are taken back where it is not", async () => {
    const kept = await apply(RULES, "50");
    assert.deepEqual([kept.status, kept.output], [
      "done",
      "The rules are in force, and the platform is reachable.\n",
    ]);
    const locking = await apply(LOCKING, "4");
    assert.equal(locking.status, "failed", "the device has told it, so it reaches the platform");
    assert.match(locking.output, /was not reachable within 4 s; the rules from before are back/);
  });
});
