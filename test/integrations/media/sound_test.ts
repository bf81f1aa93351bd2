import assert from "node:assert/strict";
import { copyFile, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  addProvenance,
  AUDIO_LIMITS,
  ChildFailed,
  decodeAudio,
  encodeMp3,
  readProvenance,
  speak,
} from "../../../integrations/media/mod.ts";
import { startTestServer } from "./_server.ts";
import { openTestMedia, skipWithoutMedia, type TestMedia } from "./_media.ts";

const RECEIPT = "00c0ffee00c0ffee";

describe("sound", () => {
  let media: TestMedia;
  let spoken: string;

  before(async function () {
    await skipWithoutMedia(this);
    media = await openTestMedia();
    spoken = join(media.cwd, "spoken.wav");
    const text = "The service answers again. Nobody was hurt. We watch it for another day.";
    await speak(media.tools, { text, out: spoken }, { cwd: media.cwd });
  });

  const decode = (source: string) =>
    decodeAudio(media.tools, { source, out: join(media.cwd, "out.wav") }, { cwd: media.cwd });

  it("becomes an MP3 at −16 LUFS with title, chapters and receipt, whatever the title holds", async () => {
    const { tools, cwd } = media;
    const out = join(cwd, "post.mp3");
    const title = "What; happened = this # \\ [CHAPTER]\nTITLE=forged";
    const chapters = [{ title: "One", start: 0, end: 2 }, { title: "Two", start: 2, end: 4 }];
    await encodeMp3(tools, { source: spoken, out, tags: { title, receiptId: RECEIPT, chapters } }, {
      cwd,
      seconds: 60,
    });
    const { stderr } = await tools.ffmpeg(["-i", out, "-af", "ebur128", "-f", "null", "-"], {
      cwd,
      seconds: 60,
    });
    const loudness = Number(/Integrated loudness:\s+I:\s+(-[\d.]+) LUFS/.exec(stderr)?.[1]);
    assert.ok(Math.abs(loudness + 16) <= 1, `${loudness} LUFS`);
    assert.match(stderr, /title\s*: What; happened = this # \\ \[CHAPTER\] TITLE=forged/);
    assert.match(stderr, new RegExp(`Receipt ${RECEIPT}`));
    assert.deepEqual([...new Set(stderr.match(/Chapter #0:\d/g))].length, 2);
  });

  it("is taken by its content, not its name", async () => {
    const path = join(media.cwd, "picture.png");
    await copyFile(spoken, path);
    assert.ok(await decode(path) > 3);
  });

  const hostile: Readonly<Record<string, string>> = {
    "a playlist": "#EXTM3U\n#EXTINF:10,\nfile:///etc/hostname\n",
    "a list of files": "ffconcat version 1.0\nfile '/etc/hostname'\n",
    "a web page": "<!doctype html><title>No sound</title>",
    "the head of a WAV file alone": "RIFF\0\0\0\0WAVEfmt ",
    "a playlist in an MP3's frame": "\xff\xfb#EXTM3U\nfile:///etc/hostname\n",
    "an MP3 that is a playlist": "ID3#EXTM3U\nfile:///etc/hostname\n",
    "nothing": "",
  };
  for (const [name, text] of Object.entries(hostile)) {
    it(`refuses ${name}`, async () => {
      const path = join(media.cwd, "hostile.wav");
      await writeFile(path, text, "latin1");
      await assert.rejects(decode(path), { name: "UnsupportedMediaType" });
    });
  }

  /** Makes a small file of silence. */
  async function makeSilence(seconds: number): Promise<string> {
    const { tools, cwd } = media;
    const path = join(cwd, "silence.flac");
    const silence = ["-f", "lavfi", "-t", String(seconds), "-i", "anullsrc=r=8000:cl=mono"];
    await tools.ffmpeg([...silence, "-c:a", "flac", path], { cwd, seconds: 60 });
    assert.ok((await stat(path)).size < AUDIO_LIMITS.bytes);
    return path;
  }

  it("may last 30 minutes, and no second more", async () => {
    assert.equal(await decode(await makeSilence(1_800)), 1_800);
    await assert.rejects(decode(await makeSilence(1_801)), { name: "TooLarge" });
  });

  it("stops reading a small file that unpacks to hours", async () => {
    const path = await makeSilence(36_000);
    await assert.rejects(decode(path), { name: "TooLarge" });
    await rm(path);
  });

  it("reaches no server, by whatever name ffmpeg is given", async () => {
    const server = await startTestServer();
    const { tools, cwd } = media;
    const args = ["-i", `${server.url}/a.wav`, "-f", "null", "-"];
    await assert.rejects(tools.ffmpeg(args, { cwd, seconds: 60 }), ChildFailed);
    assert.equal(server.requests(), 0);
    await server.close();
  });

  it("ends a program that takes too long", async () => {
    const { tools, cwd } = media;
    const endless = ["-re", "-f", "lavfi", "-i", "anullsrc", "-f", "null", "-"];
    await assert.rejects(tools.ffmpeg(endless, { cwd, seconds: 1 }), /stopped after 1 s/);
  });

  it("carries a manifest with its receipt, which no changed byte survives", async () => {
    const { tools, files, cwd } = media;
    const [target, mediaType] = [join(cwd, "signed.wav"), "audio/wav" as const];
    const read = (source: string) => readProvenance(tools, { source, mediaType }, { cwd });
    const order = {
      mediaType,
      title: "Spoken",
      generated: true,
      receiptId: RECEIPT,
      keys: files.keys,
    };
    await addProvenance(tools, { ...order, source: spoken, target }, { cwd });
    assert.deepEqual(await read(target), {
      state: "untrusted",
      issuer: "sealoop media",
      receipt_id: RECEIPT,
    });
    assert.equal((await read(spoken)).state, "none");
    const bytes = await readFile(target);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    await writeFile(target, bytes);
    assert.equal((await read(target)).state, "invalid");
  });
});
