import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  deployFolder,
  deployGit,
  readGitFile,
  readSiteFile,
} from "../../../operations/articles/writing/mod.ts";
import { loadConfig } from "../../../config.ts";
import { openMediaFiles } from "../../../integrations/media/mod.ts";
import { testFolder } from "../../_run.ts";

const FILES = new Map([["index.html", "<p>Hello"]]);
const { signal } = new AbortController();
const confirm = () => Promise.resolve();

describe("deployments", () => {
  it("to a folder remove what an earlier one left that never came to its end", async () => {
    const folder = await testFolder();
    const fail = () => Promise.reject(new Error("its time is over"));
    await assert.rejects(deployFolder(folder, "platform", FILES, fail, signal), /time is over/);
    assert.equal((await readdir(join(folder, "platform"))).length, 2);
    await deployFolder(folder, "platform", FILES, confirm, signal);
    assert.deepEqual((await readdir(join(folder, "platform"))).sort(), ["current", "releases"]);
    assert.equal(String(await readSiteFile(folder, "platform", "index.html")), "<p>Hello");
  });

  it("to a branch work in a folder that is swept where they are killed", async () => {
    const [repository, dataDir] = [await testFolder(), await testFolder()];
    execFileSync("git", ["init", "--bare", "--quiet", repository]);
    const { inFolder } = openMediaFiles(loadConfig({ SEALOOP_DATA: dataDir }));
    const target = { repository, branch: "pages", inFolder };
    const list = () => readdir(join(dataDir, "media", "work"));
    let during: readonly string[] = [];
    const look = async () => {
      during = await list();
    };
    await deployGit(target, FILES, "Publish", look, signal);
    assert.deepEqual([during.length, await list()], [1, []]);
    assert.equal(String(await readGitFile(target, "index.html")), "<p>Hello");
  });
});
