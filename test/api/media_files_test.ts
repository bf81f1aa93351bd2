import assert from "node:assert/strict";
import { openMediaFiles } from "../../integrations/media/mod.ts";
import { testFolder } from "../_run.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";
import { addMediaFile, publishMediaFile } from "../../store/media/mod.ts";

const TEXT = "0123456789";

describe("GET /media/{sha256}/{name}", () => {
  let gateway: TestGateway;
  let key: string;
  let path: string;
  let sha256: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_DATA: await testFolder() } });
    key = await gateway.key();
    const file = await openMediaFiles(gateway.platform.config).keepBytes(TEXT);
    ({ sha256 } = file);
    await addMediaFile(gateway.platform.store.db, { ...file, mediaType: "text/vtt" });
    path = `/media/${sha256}/captions.vtt`;
  });
  after(() => gateway?.stop());

  const get = (headers: Record<string, string> = {}, at = path) =>
    fetch(gateway.url + at, { headers });

  it("gives a file to keys of its tenant alone, until it is published", async () => {
    const answer = await get({ "x-api-key": key });
    assert.deepEqual([answer.status, await answer.text()], [200, TEXT]);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    assert.match(answer.headers.get("content-security-policy")!, /default-src 'none'.*sandbox/);
    assert.match(answer.headers.get("cache-control")!, /^private/);
    const rival = await gateway.key({ tenant: "rival" });
    const statuses = [
      await get(),
      await get({ "x-api-key": rival }),
      await get({ "x-api-key": "slp_x" }),
    ];
    assert.deepEqual(statuses.map(({ status }) => status), [404, 404, 401]);
    await publishMediaFile(gateway.platform.store.db, sha256);
    assert.deepEqual([(await get()).status, (await get({ "x-api-key": rival })).status], [
      200,
      200,
    ]);
  });

  it("gives anybody what another tenant than the operator's has published", async () => {
    await gateway.key({ tenant: "rival" });
    const db = gateway.platform.store.asTenant("rival");
    const file = await openMediaFiles(gateway.platform.config).keepBytes("of a rival");
    await addMediaFile(db, { ...file, mediaType: "text/vtt" });
    const at = `/media/${file.sha256}/captions.vtt`;
    assert.deepEqual([(await get({}, at)).status, (await get({ "x-api-key": key }, at)).status], [
      404,
      404,
    ]);
    await publishMediaFile(db, file.sha256);
    const answer = await get({}, at);
    assert.deepEqual([answer.status, await answer.text()], [200, "of a rival"]);
    assert.match(answer.headers.get("cache-control")!, /^public/);
  });

  it("gives parts, as players ask for them", async () => {
    const part = async (range: string) => {
      const answer = await get({ "x-api-key": key, range });
      return [answer.status, await answer.text(), answer.headers.get("content-range")];
    };
    assert.deepEqual(await part("bytes=2-4"), [206, "234", "bytes 2-4/10"]);
    assert.deepEqual(await part("bytes=7-"), [206, "789", "bytes 7-9/10"]);
    assert.deepEqual(await part("bytes=-2"), [206, "89", "bytes 8-9/10"]);
    assert.equal((await part("bytes=10-"))[0], 416);
    assert.deepEqual((await part("lines=1-2")).slice(0, 2), [200, TEXT]);
  });

  it("leads nowhere else", async () => {
    for (
      const at of [
        `/media/${"0".repeat(64)}/a.vtt`,
        "/media/..%2f..%2fkeys/media.pem",
        `/media/${sha256}/..%2fa`,
      ]
    ) {
      assert.equal((await get({ "x-api-key": key }, at)).status, 404, at);
    }
  });
});
