import assert from "node:assert/strict";
import { readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { loadConfig } from "../../../config.ts";
import { AUDIO_LIMITS, type MediaFile, takeSource } from "../../../integrations/media/mod.ts";
import { testFolder } from "../../_run.ts";
import { openTestMedia } from "./_media.ts";

describe("kept files", () => {
  it("lie once under their hash, and no path leads elsewhere", async () => {
    const { files, cwd } = await openTestMedia();
    const path = join(cwd, "a.txt");
    await writeFile(path, "The same text");
    const one = await files.keep(path);
    assert.deepEqual(await files.keepBytes("The same text"), one);
    assert.equal(await readFile((await files.find(one.sha256))!, "utf8"), "The same text");
    assert.equal(await files.find("../../../etc/passwd"), undefined);
    assert.equal(await files.find("0".repeat(64)), undefined);
    const others = await readdir(dirname((await files.find(one.sha256))!));
    assert.deepEqual(others, [one.sha256]);
  });

  it("are swept once they are a day old and nobody needs them", async () => {
    const { files } = await openTestMedia();
    const [needed, gone, fresh, again] = await Promise.all(
      ["needed", "gone", "fresh", "again"].map(async (text) => await files.keepBytes(text)),
    );
    const left = await files.inFolder(async (folder) => {
      await writeFile(`${folder}-left`, "");
      return `${folder}-left`;
    });
    const part = `${await files.find(gone!.sha256)}.0123456789ab`;
    await writeFile(part, "");
    const long = new Date(Date.now() - 25 * 3_600_000);
    const find = (file: MediaFile | undefined) => files.find(file!.sha256);
    const paths = await Promise.all([needed, gone, again].map(find));
    for (const path of [...paths.map((path) => path!), left, part]) await utimes(path, long, long);
    await files.keepBytes("again");
    assert.equal(await files.dropCopies(), 0, "no bucket has them");
    const listNeeded = () => Promise.resolve(new Set([needed!.sha256]));
    assert.equal(await files.sweep(listNeeded), 3);
    const kept = await Promise.all([needed, gone, fresh, again].map(find));
    assert.deepEqual(kept.map((path) => path !== undefined), [true, false, true, true]);
    await assert.rejects(stat(left));
    await assert.rejects(stat(part));
    assert.equal(await files.sweep(listNeeded), 0);
  });

  it("leave no folder of work behind, also where the work failed", async () => {
    const { files } = await openTestMedia();
    let folder = "";
    await assert.rejects(files.inFolder((path) => {
      folder = path;
      throw new Error("broken");
    }));
    await assert.rejects(stat(folder));
  });
});

describe("files of the inbox folder", () => {
  const open = async () => {
    const inbox = await testFolder();
    const config = loadConfig({ SEALOOP_DATA: await testFolder(), SEALOOP_INBOX: inbox });
    const cwd = await testFolder();
    return { inbox, take: (source: string) => takeSource(config, source, { cwd }) };
  };

  it("are copied before they are looked at, so that a later change is without effect", async () => {
    const { inbox, take } = await open();
    await writeFile(join(inbox, "a.wav"), "first");
    const copy = await take("a.wav");
    await writeFile(join(inbox, "a.wav"), "#EXTM3U");
    await rm(join(inbox, "a.wav"));
    await symlink("/etc/hostname", join(inbox, "a.wav"));
    assert.equal(await readFile(copy, "utf8"), "first");
    await assert.rejects(take("a.wav"), { name: "NotFound" });
  });

  it("are read up to their limit, and refused beyond", async () => {
    const { inbox, take } = await open();
    const path = join(inbox, "a.wav");
    await writeFile(path, Buffer.alloc(AUDIO_LIMITS.bytes));
    assert.equal((await stat(await take("a.wav"))).size, AUDIO_LIMITS.bytes);
    await writeFile(path, Buffer.alloc(AUDIO_LIMITS.bytes + 1));
    await assert.rejects(take("a.wav"), { name: "TooLarge" });
    await symlink("/dev/zero", join(inbox, "zero.wav"));
    await assert.rejects(take("zero.wav"), { name: "NotFound" });
  });
});
