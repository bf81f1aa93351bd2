import assert from "node:assert/strict";
import { loadConfig } from "../../config.ts";
import { type MastodonClient, openMastodon } from "../../integrations/social/mod.ts";
import { findPython } from "../_python.ts";
import { MASTODON_MOCK, MOCK_TOKEN, startMastodonMock } from "./_mastodon.ts";
import { skipSuite } from "./_skip.ts";

const TEXT = "The disk was full.\n\nIt is not any more: “df -h” 🎉";

describe("Mastodon's API", function () {
  this.timeout(300_000);
  let server: Awaited<ReturnType<typeof startMastodonMock>> | undefined;
  let client: MastodonClient;

  const open = (token: string) =>
    openMastodon(loadConfig({
      SEALOOP_MASTODON_URL: server!.url,
      SEALOOP_CREDENTIALS: JSON.stringify({ mastodon: token }),
    }))!;

  before(async function () {
    const python = await findPython(...MASTODON_MOCK);
    if ("missing" in python) return skipSuite(this, python.missing);
    server = await startMastodonMock(python.program);
    client = open(MOCK_TOKEN);
  });
  after(() => server?.close());

  it("posts once for each act, and shows the post by its id and by its text", async () => {
    const since = new Date();
    const id = await client.post(TEXT, "ACT-5b1e09c77a42");
    assert.equal(await client.post(TEXT, "ACT-5b1e09c77a42"), id);
    const post = await client.readPost(id, TEXT);
    assert.equal(post?.id, id);
    assert.match(post.url!, /^https?:\/\/.+\/\d+$/);
    assert.deepEqual(await client.findPost(TEXT, since), post);
  });

  it("shows nothing for another text, id or time", async () => {
    const id = await client.post("Another one", "ACT-5b1e09c77a43");
    assert.equal(await client.readPost(id, TEXT), undefined);
    assert.equal(await client.readPost("1", TEXT), undefined);
    assert.equal(await client.findPost("Never posted", new Date(0)), undefined);
    assert.equal(await client.findPost(TEXT, new Date(Date.now() + 60_000)), undefined);
  });

  it("refuses another token, and an empty post", async () => {
    const refused = { outcome: "not_done" };
    await assert.rejects(open("wrong").post(TEXT, "ACT-1"), { ...refused, code: "credential" });
    await assert.rejects(client.post("", "ACT-2"), { ...refused, code: "refused" });
  });
});
