import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import { decodeAudio, speak, splitSentences, transcribe } from "../../../integrations/media/mod.ts";
import { openTestMedia, skipWithoutMedia, type TestMedia, wordErrorRate } from "./_media.ts";

const MAX_WORD_ERROR_RATE = 0.1;
const SECONDS = 8;
const RATE = 16_000;

describe("speech and transcription", () => {
  let media: TestMedia;

  before(async function () {
    await skipWithoutMedia(this);
    media = await openTestMedia();
  });

  /** Transcribes a sound file of this test. */
  async function hear(source: string): Promise<string> {
    const { tools, cwd } = media;
    const out = join(cwd, "heard.wav");
    await decodeAudio(tools, { source, out }, { cwd });
    return (await transcribe(tools, out, { cwd })).map(({ text }) => text).join(" ");
  }

  it("hears what was spoken, with at most one word in ten wrong", async () => {
    const { tools, cwd } = media;
    const text = await readFile(
      join(ROOT, "test", "integrations", "media", "sentences.txt"),
      "utf8",
    );
    const out = join(cwd, "said.wav");
    const { cues, seconds } = await speak(tools, { text, out }, { cwd });
    assert.equal(cues.length, 20);
    assert.ok(seconds > 40 && cues.every(({ start, end }) => start < end && end <= seconds));
    const rate = wordErrorRate(text, await hear(out));
    console.log(`      word error rate ${rate.toFixed(3)} in ${seconds.toFixed(0)} s of speech`);
    assert.ok(rate <= MAX_WORD_ERROR_RATE, `word error rate ${rate}`);
  });

  it("speaks the same text with the same bytes", async () => {
    const { tools, cwd } = media;
    const paths = ["a.wav", "b.wav"].map((name) => join(cwd, name));
    for (const out of paths) await speak(tools, { text: "The same again.", out }, { cwd });
    const [one, other] = await Promise.all(paths.map((path) => readFile(path)));
    assert.ok(one!.equals(other!));
  });

  const sounds: Readonly<Record<string, (second: number, noise: number) => number>> = {
    "silence": () => 0,
    "quiet hiss": (_, noise) => 0.002 * noise,
    "loud noise": (_, noise) => 0.3 * noise,
    "noise that swells like syllables": (t, noise) => 0.2 * noise * (1 + Math.sin(8 * Math.PI * t)),
    "the hum of a fan": (t) =>
      0.3 * Math.sin(2 * Math.PI * 50 * t) + 0.1 * Math.sin(2 * Math.PI * 150 * t),
    "a tone": (t) => 0.4 * Math.sin(2 * Math.PI * 440 * t),
    "music": (t) => playTune(t),
    "music with drums": (t, noise) => 0.6 * playTune(t) + 0.3 * noise * Math.exp(-20 * (t % 0.5)),
  };
  for (const [name, sound] of Object.entries(sounds)) {
    it(`hears no words in ${name}`, async () => {
      const path = join(media.cwd, "sound.wav");
      await writeFile(path, makeWav(sound));
      assert.equal(await hear(path), "");
    });
  }
});

describe("splitSentences()", () => {
  it("cuts long sentences where they pause, and loses no word", () => {
    const text = `${
      "A service, which nobody watched for a long time, ".repeat(6)
    }failed. It is back.`;
    const parts = splitSentences(text);
    assert.ok(parts.every((part) => part.length <= 110));
    assert.equal(parts.join(" "), text);
  });

  it("leaves no single word behind, and no address in pieces", () => {
    const long = `It calls ${"for help ".repeat(11)}where nothing may go`;
    const [first, second] = splitSentences(`${long}.`);
    assert.ok(first!.length < 75 && second!.length > 35, `${first} | ${second}`);
    const address = "See https://a.example/x?y=1 for more.";
    assert.deepEqual(splitSentences(`${address} Is it? Yes.`), [address, "Is it?", "Yes."]);
  });

  it("leaves out what has nothing to say", () => {
    assert.deepEqual(splitSentences("One.\n\n---\n…\nTwo."), ["One.", "Two."]);
  });
});

/** A melody over chords, with overtones, each note dying away. */
function playTune(t: number): number {
  const chords = [[220, 277, 330], [196, 247, 294], [175, 220, 262], [165, 208, 247]];
  const melody = [440, 494, 554, 587, 659, 554, 494, 440];
  const notes = [...chords[Math.floor(t / 2) % 4]!, melody[Math.floor(t * 2) % 8]!];
  const fade = Math.exp(-3 * (t % 0.5));
  return 0.08 * fade * notes.reduce((sum, pitch) => sum + voice(pitch, t), 0);
}

function voice(pitch: number, t: number): number {
  return [1, 2, 3, 4, 5].reduce((sum, k) => sum + Math.sin(2 * Math.PI * pitch * k * t) / k, 0);
}

function makeWav(sound: (second: number, noise: number) => number): Buffer {
  const samples = Buffer.alloc(SECONDS * RATE * 2);
  let seed = 1;
  for (let n = 0; n < SECONDS * RATE; n++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const value = Math.max(-1, Math.min(1, sound(n / RATE, seed / 1_073_741_824 - 1)));
    samples.writeInt16LE(Math.round(value * 32_767), n * 2);
  }
  const head = Buffer.alloc(44);
  head.write("RIFF", 0).toString();
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
