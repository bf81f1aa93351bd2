import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AllowedCommand, checkCommand, performStep } from "../../../judgement/runbooks/mod.ts";
import { testFolder } from "../../_run.ts";
import { createContext, newId, shipped, step } from "./_runbook.ts";

const allow = (...argv: string[]): AllowedCommand => ({
  name: "allowed",
  about: "Allowed by the test.",
  argv,
  users: [],
});

describe("a command step", () => {
  let dataDir: string;
  before(async () => {
    dataDir = await testFolder();
  });
  const running = (argv: string[], bounds: object = {}, more: object = {}) =>
    step({ command: { argv, ...more }, bounds: { within: "60s", ...bounds } });
  const perform = (
    work: ReturnType<typeof step>,
    commands: readonly AllowedCommand[],
    id = newId(),
  ) => performStep(work, id, createContext(dataDir, { commands }));
  const readLog = (id: string) => readFileSync(join(dataDir, "effects", id, "log"), "utf8");

  it("runs an allowed command with its arguments unchanged", async () => {
    const id = newId();
    const argv = ["echo", `a 'b' $HOME; $(id) | cat`];
    const outcome = await perform(running(argv), [allow("echo", "/.*/")], id);
    assert.deepEqual(outcome, { state: "done", code: "exit_0", ok: true });
    assert.equal(readLog(id), `a 'b' $HOME; $(id) | cat\n`);
  });

  it("runs once, however often it is asked for", async () => {
    const id = newId();
    const work = running(["echo", "once"]);
    for (const _ of [1, 2, 3]) await perform(work, [allow("echo", "once")], id);
    assert.equal(readLog(id), "once\n");
  });

  it("does not see the platform's settings and passwords", async () => {
    const secrets = { SEALOOP_TEST_SECRET: "s3cret", PGPASSWORD: "s3cret", DATABASE_URL: "s3cret" };
    Object.assign(process.env, secrets);
    try {
      for (const bounds of [{}, { file_size: "1MiB" }]) {
        const id = newId();
        await perform(running(["printenv"], bounds), [allow("printenv")], id);
        const names = readLog(id).trim().split("\n").map((line) => line.split("=")[0]!);
        assert.ok(names.includes("PATH"));
        const ours = names.filter((name) => !["PATH", "HOME", "LANG", "TZ"].includes(name));
        // PWD, OLDPWD, SHLVL and _ are set by some shells.
        assert.deepEqual(ours.filter((name) => !/^(OLD)?PWD$|^SHLVL$|^_$/.test(name)), []);
      }
    } finally {
      for (const name of Object.keys(secrets)) delete process.env[name];
    }
  });

  it("refuses a command that is not on the list, and arguments that only begin like listed ones", async () => {
    const commands = [allow("echo", "/[a-z]+/"), { ...allow("touch"), more: "/x" }];
    const refused = [
      ["id"],
      ["echo"],
      ["echo", "a", "b"],
      ["echo", "a; id"],
      ["echo", "a\nb"],
      ["/tmp/echo", "a"],
      ["touch", "/x", "/y"],
    ];
    for (const argv of refused) {
      const { state, code } = await perform(running(argv), commands);
      assert.deepEqual([state, code], ["not_done", "not_allowed"], argv.join(" "));
    }
  });

  it("refuses a program that this host does not have", async () => {
    const { state, code } = await perform(running(["no-such-program"]), [allow("no-such-program")]);
    assert.deepEqual([state, code], ["not_done", "no_program"]);
  });

  it("is not ok when the program ends otherwise than expected", async () => {
    const outcome = await perform(running(["false"]), [allow("false")]);
    assert.deepEqual(outcome, { state: "done", code: "exit_1", ok: false });
    const expected = await perform(running(["false"], {}, { expect: [1] }), [allow("false")]);
    assert.equal(expected.ok, true);
  });

  it("is killed when it takes too long, and unknown", async () => {
    const work = running(["sleep", "30"], { within: "1s" });
    const outcome = await perform(work, [allow("sleep", "30")]);
    assert.deepEqual(outcome, { state: "unknown", code: "timeout", ok: false });
  });

  it("takes no more processor time, memory and file size than its bounds allow", async () => {
    const file = join(dataDir, "large");
    const writing = ["dd", "if=/dev/zero", `of=${file}`, "bs=1024", "count=4096"];
    const limited = await perform(running(writing, { file_size: "1MiB" }), [
      { ...allow("dd"), more: ".*" },
    ]);
    assert.equal(limited.ok, false);
    assert.equal(readFileSync(file).length, 2 ** 20);
    const id = newId();
    const bounds = { cpu: "7s", memory: "512MiB" };
    const showing = running(["prlimit", "--noheadings", "--output", "RESOURCE,SOFT"], bounds);
    await perform(showing, [{ ...allow("prlimit"), more: ".*" }], id);
    assert.match(readLog(id), /CPU\s+7\n/);
    assert.match(readLog(id), /AS\s+536870912\n/);
  });

  it("runs as another user only where the allow-list says so", async function () {
    if (process.getuid?.() !== 0) return this.skip(); // only root may
    const id = newId();
    const work = running(["id", "-un"], {}, { user: "nobody" });
    const refused = await perform(work, [allow("id", "-un")]);
    assert.equal(refused.code, "user_not_allowed");
    await perform(work, [{ ...allow("id", "-un"), users: ["nobody"] }], id);
    assert.equal(readLog(id), "nobody\n");
  });

  for (const option of ["", "--file="]) {
    it(`bounds the real path of ${option || "a bare "}file, and runs with that`, () => {
      const folder = mkdtempSync(join(realpathSync(tmpdir()), "bounds-"));
      const [inside, outside] = [join(folder, "in"), join(folder, "out")];
      for (const one of [inside, outside]) mkdirSync(one);
      writeFileSync(join(outside, "secret"), "");
      writeFileSync(join(inside, "own"), "");
      symlinkSync(join(outside, "secret"), join(inside, "file-link"));
      symlinkSync(outside, join(inside, "folder-link"));
      symlinkSync(join(outside, "new"), join(inside, "dangling-link"));
      symlinkSync(join(inside, "own"), join(inside, "link-to-own"));
      const commands = [allow("touch", `/${option}${inside.replaceAll("/", "\\/")}\\/.*/`)];
      const check = (path: string) =>
        checkCommand({ argv: ["touch", `${option}${path}`] }, commands);
      for (const path of ["own", "not/there/yet", ".hidden"]) {
        const permission = check(join(inside, path));
        assert.deepEqual(permission.allowed && permission.args, [option + join(inside, path)]);
      }
      const linked = check(join(inside, "link-to-own"));
      assert.deepEqual(linked.allowed && linked.args, [option + join(inside, "own")]);
      const leadingOut = [
        "../out/secret",
        "own/../../out/secret",
        ".../out",
        "./own",
        "/own",
        "file-link",
        "folder-link/secret",
        "folder-link/not/there",
        "dangling-link",
      ];
      for (const path of leadingOut) {
        const permission = check(`${inside}/${path}`);
        assert.deepEqual(permission, { allowed: false, code: "not_allowed" }, path);
      }
      rmSync(folder, { recursive: true });
    });
  }

  it("keeps logrotate to files that are really below /etc", () => {
    for (const path of ["/etc/../root/x.conf", "/etc/.../x.conf", "/etc//x.conf"]) {
      const permission = checkCommand({ argv: ["logrotate", "--force", path] }, shipped.commands);
      assert.deepEqual(permission, { allowed: false, code: "not_allowed" }, path);
    }
  });

  it("finds every shipped command on the shipped allow-list", () => {
    const argvs = shipped.runbooks.flatMap(({ steps }) =>
      steps.flatMap((one) => one.command ?? [])
    );
    assert.ok(argvs.length > 10);
    const shippedOnes = argvs.filter(({ argv }) => !argv[0]!.startsWith("{")); // the others are the operator's
    for (const { argv } of shippedOnes) {
      const filled = argv.map((arg) =>
        arg.replace("{db_port}", "5432").replace("{configuration}", "/etc/logrotate.conf")
          .replace("{mount_point}", "/srv/share").replace("{file}", "/srv/sealoop/spare.key")
          .replace(/\{[a-z_]+\}/, "name")
      );
      const permission = checkCommand({ argv: filled }, shipped.commands);
      assert.ok(permission.allowed || permission.code === "no_program", filled.join(" "));
    }
  });
});
