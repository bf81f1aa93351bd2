import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { performStep, resolveRunbook, verifyStep } from "../../../judgement/runbooks/mod.ts";
import { testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { createContext, newId, shipped } from "./_runbook.ts";

const MIB = 2 ** 20;
const DAY_MS = 86_400_000;
const hasEngine = process.env.PATH!.split(":").some((folder) =>
  existsSync(join(folder, "dockerd"))
);

/** A Docker engine of its own, whose folder is a small file system. It needs root, and `dockerd` on the path. */
describe("disk-full-container-leftovers with a Docker engine", () => {
  let folder: string;
  let disk: string;
  const ends: (() => unknown)[] = [];
  const earlier = process.env.DOCKER_HOST;

  before(async function () {
    if (process.getuid!() !== 0 || !hasEngine) return this.skip();
    folder = await testFolder();
    disk = join(folder, "disk");
    mkdirSync(disk);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=80m", "tmpfs", disk]);
    ends.push(() => execFileSync("umount", [disk]));
    process.env.DOCKER_HOST = `unix://${join(folder, "docker.sock")}`;
    const engine = spawn("dockerd", [
      ...["--host", process.env.DOCKER_HOST, "--data-root", join(disk, "docker")],
      ...["--exec-root", join(folder, "run"), "--pidfile", join(folder, "docker.pid")],
      ...["--iptables=false", "--ip6tables=false", "--bridge=none", "--storage-driver=vfs"],
    ], { stdio: "ignore" });
    ends.unshift(async () => {
      engine.kill("SIGTERM");
      await once(engine, "exit");
    });
    await eventually(() => Promise.resolve(isUp()));
  });
  after(async () => {
    if (earlier === undefined) delete process.env.DOCKER_HOST;
    else process.env.DOCKER_HOST = earlier;
    for (const end of ends) await end();
  });

  const docker = (...args: string[]) => execFileSync("docker", args, { encoding: "utf8" }).trim();
  const isUp = () => {
    try {
      return docker("info", "--format", "{{.ServerVersion}}") || undefined;
    } catch {
      return undefined;
    }
  };

  /** Loads an image with a name, which takes it from the image that has it. @returns its id */
  function load(name: string, created: Date, bytes = MIB): string {
    const image = join(folder, `image-${newId()}`);
    mkdirSync(image);
    writeFileSync(join(image, "file"), randomBytes(bytes));
    const tar = (
      ...files: string[]
    ) => ["-C", image, "-cf", join(image, files[0]!), ...files.slice(1)];
    execFileSync("tar", tar("layer.tar", "file"));
    const sha256 = createHash("sha256").update(readFileSync(join(image, "layer.tar"))).digest(
      "hex",
    );
    const config = JSON.stringify({
      architecture: "amd64",
      os: "linux",
      created: created.toISOString(),
      config: { Cmd: ["/file"] },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256}`] },
      history: [{ created: created.toISOString() }],
    });
    const manifest = [{ Config: "config.json", RepoTags: [name], Layers: ["layer.tar"] }];
    writeFileSync(join(image, "config.json"), config);
    writeFileSync(join(image, "manifest.json"), JSON.stringify(manifest));
    execFileSync("tar", tar("image.tar", "manifest.json", "config.json", "layer.tar"));
    docker("load", "--input", join(image, "image.tar"));
    return docker("image", "inspect", name, "--format", "{{.Id}}");
  }

  function usedShare(): number {
    const { blocks, bfree } = statfsSync(disk);
    return 1 - bfree / blocks;
  }

  it("makes room by unnamed images alone, that are old and that no container uses", async () => {
    const old = new Date(Date.now() - 2 * DAY_MS);
    const leftover = load("billing:1", old, 30 * MIB);
    const named = load("billing:1", old);
    const used = load("shop:1", old);
    const container = docker("create", "shop:1");
    load("shop:1", old);
    const young = load("till:1", new Date(Date.now() - 3_600_000));
    load("till:1", old);
    docker("volume", "create", "data");
    const { bfree, bsize } = statfsSync(disk);
    writeFileSync(join(disk, "filler"), Buffer.alloc(bfree * bsize - 2 * MIB));
    assert.ok(usedShare() > 0.95);

    const runbook = shipped.runbooks.find((one) =>
      one.runbook === "disk-full-container-leftovers"
    )!;
    const { steps: [step] } = resolveRunbook(runbook, {
      service: "svc",
      values: { containers_folder: join(disk, "docker") },
      catalogue: shipped,
      isLocal: true,
      disk: { path: disk },
    });
    const context = createContext(folder);
    const outcome = await performStep(step!, newId(), context);
    assert.deepEqual([outcome.state, outcome.ok], ["done", true], JSON.stringify(outcome));
    assert.ok((await verifyStep(step!, context)).ok);
    assert.ok(usedShare() < 0.7);

    const images = docker("image", "ls", "--all", "--no-trunc", "--format", "{{.ID}}").split("\n");
    assert.ok(!images.includes(leftover));
    for (const image of [named, used, young]) assert.ok(images.includes(image), image);
    assert.equal(docker("ps", "--all", "--no-trunc", "--format", "{{.ID}}"), container);
    assert.equal(docker("volume", "ls", "--format", "{{.Name}}"), "data");
  });
});
