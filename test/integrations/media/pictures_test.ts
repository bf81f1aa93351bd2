import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { printSrt, printVtt, readProvenance, renderCard } from "../../../integrations/media/mod.ts";
import { planTimeline } from "../../../ledger/stories/mod.ts";
import { findMissingMedia, openTestMedia } from "./_media.ts";

const CARD = {
  label: "POST-MORTEM",
  title: "A certificate that nobody renewed",
  footer: "sealoop",
};
const RECEIPT = "00c0ffee00c0ffee";

describe("renderCard()", function () {
  it("draws a PNG of the size that links are shown with, the same bytes for the same card", async () => {
    const media = await openTestMedia();
    const { sha256 } = await renderCard(media, CARD);
    const png = await readFile((await media.files.find(sha256))!);
    assert.equal(png.toString("latin1", 1, 4), "PNG");
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630]);
    assert.equal((await renderCard(media, CARD)).sha256, sha256);
  });

  it("draws what took how long, as long as it took", async () => {
    const media = await openTestMedia();
    const draw = async (ms: number) => {
      const timeline = planTimeline([
        { step: "detect", from_ms: 0, to_ms: 120 },
        { step: "diagnose", from_ms: 120, to_ms: 900 },
        { step: "approve", from_ms: 900, to_ms: 900 + ms },
        { step: "repair", from_ms: 900 + ms, to_ms: 2400 + ms },
        { step: "verify", from_ms: 2400 + ms, to_ms: 2900 + ms },
      ])!;
      return await renderCard(media, { ...CARD, timeline });
    };
    const quick = await draw(2_000);
    assert.notEqual(quick.sha256, (await draw(9_000)).sha256);
    assert.notEqual(quick.sha256, (await renderCard(media, CARD)).sha256);
  });

  it("writes the receipt into its manifest, where the programs for that are there", async function () {
    if (await findMissingMedia()) this.skip();
    const media = await openTestMedia();
    const { tools, files, cwd } = media;
    const { sha256 } = await renderCard(media, { ...CARD, receiptId: RECEIPT });
    const read = (source: string) =>
      readProvenance(tools, { source, mediaType: "image/png" }, { cwd });
    assert.deepEqual(await read((await files.find(sha256))!), {
      state: "untrusted",
      issuer: "sealoop media",
      receipt_id: RECEIPT,
    });
    const bytes = await readFile((await files.find(sha256))!);
    bytes[bytes.length - 5_000]! ^= 1;
    const changed = join(cwd, "changed.png");
    await writeFile(changed, bytes);
    assert.equal((await read(changed)).state, "invalid");
  });

  it("draws words smaller until they fit, and nothing of characters that it has no form for", async () => {
    const media = await openTestMedia();
    const draw = async (title: string) => (await renderCard(media, { ...CARD, title })).sha256;
    const long = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenverordnung".repeat(3);
    assert.notEqual(await draw(`${long}a`), await draw(`${long}b`), "its end is to be seen");
    assert.equal(await draw("Disk 🚀 שלום עולם full"), await draw("Disk … full"));
  });

  it("draws text as text, whatever markup is in it", async () => {
    const media = await openTestMedia();
    const title = `</text><image href="file:///etc/passwd"/>&lt; "${"long ".repeat(60)}`;
    const { sha256 } = await renderCard(media, { ...CARD, title });
    assert.notEqual(sha256, (await renderCard(media, CARD)).sha256);
  });
});

describe("captions", () => {
  const cues = [{ text: 'Is 1<2 & "C:\\new" --> {\\an8}?', start: 0, end: 3_661.5 }];

  it("escape in WebVTT what would be markup", () => {
    const [, , times, text] = printVtt(cues).split("\n");
    assert.equal(times, "00:00:00.000 --> 01:01:01.500");
    assert.equal(text, 'Is 1&lt;2 &amp; "C:\\new" --&gt; {\\an8}?');
  });

  it("are broken into lines of about the same length, of at most 42 characters", () => {
    const text = "The text has so many words that it needs <two> lines.";
    const [, , , ...lines] = printVtt([{ text, start: 0, end: 1 }]).trimEnd().split("\n");
    assert.deepEqual(lines, ["The text has so many words", "that it needs &lt;two&gt; lines."]);
  });

  it("have in SubRip nothing that players take for markup, and no entities, which they show", () => {
    const [n, times, text] = printSrt(cues).split("\n");
    assert.deepEqual([n, times], ["1", "00:00:00,000 --> 01:01:01,500"]);
    assert.equal(text, 'Is 1‹2 & "C:/new" --› {/an8}?');
  });
});
