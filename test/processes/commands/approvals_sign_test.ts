import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { generateKeyPairSync, verify } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approvalText } from "../../../operations/devices/protocol/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import {
  APPROVAL_ID,
  commandAction,
  LyingGateway,
  sha256Of,
  shownApproval,
} from "./_lying_gateway.ts";

/** Runs a program at a terminal of its own, which standard input types into. */
const AT_TERMINAL = `
import os, pty, sys
sys.exit(os.WEXITSTATUS(pty.spawn(sys.argv[1:])))
`;

describe("the command by which people approve", () => {
  const approver = generateKeyPairSync("ed25519");
  let gateway: LyingGateway;
  let folder: string;
  let pem: string;
  beforeEach(async () => {
    gateway = await new LyingGateway().start();
    folder = await testFolder();
    pem = join(folder, "approver.pem");
    writeFileSync(pem, approver.privateKey.export({ format: "pem", type: "pkcs8" }));
    writeFileSync(join(folder, "ann.key"), "slp_partner_key\n");
  });
  afterEach(() => gateway.stop());

  /** Runs the command, at a terminal where it answers a question. */
  async function run(words: readonly string[], { answer, url = gateway.address }: {
    readonly answer?: string;
    readonly url?: string;
  } = {}) {
    const file = await program("processes/commands/approvals.ts");
    const command = [process.execPath, file, ...words];
    if (words[0] !== "sign") command.push("--key-file", join(folder, "ann.key"));
    const env = { PATH: process.env.PATH, SEALOOP_DATA: folder, SEALOOP_GATEWAY_URL: url };
    const child = answer === undefined
      ? spawn(command[0]!, command.slice(1), { env, stdio: ["ignore", "pipe", "pipe"] })
      : spawn("python3", ["-c", AT_TERMINAL, ...command], { env });
    let [output, errors] = ["", ""];
    child.stdout!.on("data", (data) => {
      output += data;
      if (answer && output.includes("Type yes:") && !child.stdin!.writableEnded) {
        child.stdin!.end(`${answer}\n`);
      }
    });
    child.stderr!.on("data", (data) => errors += data);
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { code, output, errors };
  }

  function isSigned(action: ReturnType<typeof commandAction>, signature: string): boolean {
    const text = approvalText(APPROVAL_ID, action, sha256Of(action));
    return verify(null, Buffer.from(text), approver.publicKey, Buffer.from(signature, "hex"));
  }

  it("signs without a network what was shown and saved, for the platform to be given", async () => {
    const action = commandAction();
    gateway.shows = [shownApproval(action)];
    const file = join(folder, "shown.json");
    const shown = await run(["show", APPROVAL_ID, "--save", file]);
    assert.equal(shown.code, 0, shown.errors);
    gateway.shows = [shownApproval(commandAction({ argv: ["rm", "-rf", "/"] }))];
    const signed = await run(["sign", file, "--sign", pem], { url: "http://127.0.0.1:1" });
    assert.equal(signed.code, 0, signed.errors);
    assert.match(signed.errors, new RegExp(`signs +${sha256Of(action)}`));
    const [, signature] = /^[0-9a-f]{64}:([0-9a-f]{128})\n$/.exec(signed.output)!;
    assert.ok(isSigned(action, signature!), "it is over what was shown");
    const word = signed.output.trim();
    const approved = await run(["approve", APPROVAL_ID, "--signature", word]);
    assert.equal(approved.code, 0, approved.errors);
    assert.deepEqual(gateway.decisions, [{
      signature: { key: word.split(":")[0], signature: word.split(":")[1] },
    }]);
  });

  it("does not sign a file that was changed, or has what nobody can see", async () => {
    gateway.shows = [shownApproval(commandAction())];
    const file = join(folder, "shown.json");
    await run(["show", APPROVAL_ID, "--save", file]);
    const saved = JSON.parse(readFileSync(file, "utf8"));
    const hidden = commandAction({ argv: ["echo", "a\u202eb"] });
    const changes: Readonly<Record<string, object>> = {
      "its action is not the one": { ...saved, action: commandAction({ user: "root" }) },
      "characters that nobody can see": {
        ...saved,
        action: hidden,
        action_sha256: sha256Of(hidden),
      },
      "no file that show --save has written": {
        ...saved,
        action: { ...saved.action, shell: true },
      },
    };
    for (const [told, changed] of Object.entries(changes)) {
      writeFileSync(file, JSON.stringify(changed));
      const { code, output, errors } = await run(["sign", file, "--sign", pem]);
      assert.deepEqual([code, output], [1, ""]);
      assert.ok(errors.includes(told), errors);
    }
  });

  it("signs nothing without a terminal to ask at, and says how else", async () => {
    gateway.shows = [shownApproval(commandAction())];
    const { code, errors } = await run(["approve", APPROVAL_ID, "--sign", pem]);
    assert.equal(code, 1);
    assert.match(errors, /there is no terminal.*show APR-5b1e09c77a42 --save/);
    assert.deepEqual(gateway.decisions, []);
  });

  it("asks at a terminal, and signs what it has shown there", async () => {
    const action = commandAction();
    gateway.shows = [shownApproval(action)];
    const { code, output } = await run(["approve", APPROVAL_ID, "--sign", pem], { answer: "yes" });
    assert.equal(code, 0, output);
    assert.match(output, new RegExp(`Sign SHA-256 ${sha256Of(action)} as shown above\\?`));
    const { signature } = gateway.decisions[0]!.signature as Record<string, string>;
    assert.ok(isSigned(action, signature!));
  });

  it("signs nothing where the answer is another, or the platform then shows something else", async () => {
    gateway.shows = [shownApproval(commandAction())];
    const no = await run(["approve", APPROVAL_ID, "--sign", pem], { answer: "no" });
    assert.match(no.output, /Signed nothing: the answer was not yes/);
    gateway.shows = [
      shownApproval(commandAction()),
      shownApproval(commandAction({ argv: ["rm", "-rf", "/"] })),
    ];
    const { code, output } = await run(["approve", APPROVAL_ID, "--sign", pem], { answer: "yes" });
    assert.equal(code, 1);
    assert.match(output, /Signed nothing: the platform shows another action than before/);
    assert.deepEqual(gateway.decisions, []);
  });

  it("signs nothing where the platform names another hash than that of what it shows", async () => {
    const action_sha256 = sha256Of(commandAction({ argv: ["rm", "-rf", "/"] }));
    gateway.shows = [shownApproval(commandAction(), { action_sha256 })];
    const { output } = await run(["approve", APPROVAL_ID, "--sign", pem], { answer: "yes" });
    assert.match(output, /shows another action than it asks about/);
    assert.deepEqual(gateway.decisions, []);
  });

  it("shows what the platform says with nothing that steers a terminal, hides, or passes for another line", async () => {
    const hostile = "\u001b[2J\u009b31m\u202e\u2028\u200b\r";
    const action = { [`a${hostile}`]: `b${hostile}`, text: `one\n  until     never${hostile}\nx` };
    gateway.shows = [shownApproval(action, {
      approval_id: `${APPROVAL_ID}\n  action    forged`,
      description: `Clean up${hostile}\n  action    forged`,
      reasons: [hostile],
      moves: [{ at: "now", move: "asked", principal: hostile, reason: hostile, receipt_id: "1" }],
    })];
    const { output, errors } = await run(["show", APPROVAL_ID]);
    assert.equal(errors, "");
    assert.doesNotMatch(output, /[^\n\x20-\x7e\u27e8\u27e9]/u);
    assert.equal(output.match(/^ {2}action {4}/gm)!.length, 1, output);
    assert.doesNotMatch(output, /^ *until {5}never/m);
    gateway.shows = [{ approvals: [shownApproval({}, { tenant_id: `acme\n${hostile}` })] }];
    const listed = await run(["list"]);
    assert.doesNotMatch(listed.output, /[^\n\x20-\x7e\u27e8\u27e9]/u);
    assert.equal(listed.output.trim().split("\n").length, 2);
  });
});
