import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  addProvenance,
  assembleFilm,
  encodeMp3,
  type Film,
  type MadeScene,
  makeScene,
  speak,
} from "../../integrations/media/mod.ts";
import { openTestMedia, skipWithoutMedia, type TestMedia } from "../integrations/media/_media.ts";
import { installFfprobe, probe, probeCaptions } from "./_ffprobe.ts";
import { skipSuite } from "./_skip.ts";

const SIZE = { width: 1280, height: 720 } as const;
const RECEIPT = "00c0ffee00c0ffee";
const TEXTS = [
  "The billing service stopped. A key had <expired> & nobody knew.",
  "It answers again.",
];

describe("films and sound, by ffprobe", function () {
  this.timeout(600_000);
  let media: TestMedia;
  let scenes: MadeScene[];
  let film: Film;

  before(async function () {
    await skipWithoutMedia(this);
    const missing = await installFfprobe();
    if (missing !== undefined) return skipSuite(this, missing);
    media = await openTestMedia();
    const { cwd } = media;
    scenes = [];
    for (const [index, text] of TEXTS.entries()) {
      const folder = join(cwd, `scene-${index}`);
      await mkdir(folder);
      const script = { n: index + 1, total: TEXTS.length, heading: "A", text, hasFace: false };
      scenes.push(await makeScene(media, { ...script, ...SIZE }, { cwd: folder }));
    }
    const order = { title: "A film", scenes, captions: true, footer: "", ...SIZE };
    film = await assembleFilm(media, order, { cwd });
  });

  it("are H.264 of 1280 × 720, AAC, and captions, each as long as the scenes, with and without a manifest", async () => {
    const { tools, files, cwd } = media;
    const target = join(cwd, "signed.mp4");
    const manifest = { mediaType: "video/mp4", title: "A film", generated: true } as const;
    const order = { ...manifest, source: film.mp4, target, receiptId: RECEIPT, keys: files.keys };
    await addProvenance(tools, order, { cwd });
    for (const path of [film.mp4, target]) {
      const { format, streams } = await probe(path);
      assert.match(format.format_name, /mp4/);
      const kinds = streams.map(({ codec_type, codec_name }) => `${codec_type} ${codec_name}`);
      assert.deepEqual(kinds, ["video h264", "audio aac", "subtitle mov_text"]);
      const [video, audio] = streams;
      assert.deepEqual([video!.width, video!.height, video!.pix_fmt], [1280, 720, "yuv420p"]);
      assert.deepEqual([video!.avg_frame_rate, audio!.sample_rate], ["25/1", "48000"]);
      for (const { duration } of [video!, audio!]) {
        assert.ok(Math.abs(Number(duration) - film.seconds) <= 0.1, `${duration} ${film.seconds}`);
      }
    }
  });

  it("have each caption when its sentence is said, with the characters of the text", async () => {
    const starts = scenes.flatMap(({ cues }, n) =>
      cues.map(({ start }) => start + (n === 0 ? 0 : scenes[0]!.seconds))
    );
    const found = await probeCaptions(film.mp4);
    assert.equal(found.length, starts.length);
    for (const [n, start] of starts.entries()) assert.ok(Math.abs(found[n]! - start) <= 0.1);
    const { tools, cwd } = media;
    const out = join(cwd, "texts");
    const args = ["-i", film.mp4, "-map", "0:s", "-c:s", "copy", "-f", "data", out];
    await tools.ffmpeg(args, { cwd, seconds: 60 });
    assert.match(await readFile(out, "utf8"), /A key had ‹expired› & nobody\s+knew\./);
  });

  it("are MP3 with title, receipt and chapters", async () => {
    const { tools, cwd } = media;
    const [source, out] = [join(cwd, "said.wav"), join(cwd, "said.mp3")];
    const { seconds } = await speak(tools, { text: TEXTS[0]!, out: source }, { cwd });
    const chapters = [{ title: "One", start: 0, end: 1 }, { title: "Two", start: 1, end: seconds }];
    const tags = { title: "A post", receiptId: RECEIPT, chapters };
    await encodeMp3(tools, { source, out, tags }, { cwd, seconds: 60 });
    const probed = await probe(out);
    const [sound] = probed.streams;
    assert.deepEqual([sound!.codec_name, sound!.sample_rate, sound!.channels], ["mp3", "44100", 1]);
    assert.ok(Math.abs(Number(sound!.duration) - seconds) <= 0.1);
    const { title, comment } = probed.format.tags!;
    assert.deepEqual([title, comment], ["A post", `Receipt ${RECEIPT}`]);
    assert.deepEqual(probed.chapters.map(({ tags }) => tags.title), ["One", "Two"]);
  });
});
