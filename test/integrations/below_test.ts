import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathBelow, realPathBelow } from "../../integrations/files/mod.ts";
import { testFolder } from "../_run.ts";

describe("pathBelow()", () => {
  it("joins what stays below its folder", () => {
    assert.equal(pathBelow("/srv/site", "a/b.html"), "/srv/site/a/b.html");
    assert.equal(pathBelow("/srv/site", "a", "..b"), "/srv/site/a/..b");
  });

  for (
    const part of ["..", "../x", "a/../../x", "a/../b", "/etc/passwd", "", ".", "a\0b", "..\\x"]
  ) {
    it(`refuses ${JSON.stringify(part)}`, () => {
      assert.throws(() => pathBelow("/srv/site", part), { name: "InvalidInput" });
    });
  }

  it("refuses an absolute part that would replace the others", () => {
    assert.throws(() => pathBelow("/srv/site", "a", "/srv/site/b"), { name: "InvalidInput" });
  });
});

describe("realPathBelow()", () => {
  it("gives nothing that a link leads out of the folder to", async () => {
    const folder = await testFolder();
    const root = join(folder, "root");
    await mkdir(root);
    await writeFile(join(folder, "victim"), "");
    await writeFile(join(root, "own"), "");
    await symlink(join(folder, "victim"), join(root, "link"));
    await symlink(folder, join(root, "up"));
    assert.equal(await realPathBelow(root, "link"), undefined);
    assert.equal(await realPathBelow(root, "up/victim"), undefined);
    assert.equal(await realPathBelow(root, "missing"), undefined);
    assert.ok((await realPathBelow(root, "own"))?.endsWith("/root/own"));
  });
});
