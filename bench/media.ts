/**
 * The cost of media, as real-time factors: seconds of work for a second of sound or film. A film is compared with ffmpeg
 * alone, which encodes the same pictures and the same sound in one go; speech and transcripts with the mere decoding of the
 * same sound.
 */
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../config.ts";
import {
  assembleFilm,
  decodeAudio,
  makeScene,
  openMedia,
  speak,
  transcribe,
} from "../integrations/media/mod.ts";
import { testFolder } from "../test/_run.ts";
import { type Figure, measureInTurns, type Pair } from "./_figures.ts";
import { rounds, timeMs } from "./_work.ts";

const ROUNDS = rounds(3);
const SIZE = { width: 1280, height: 720 } as const;
const TEXT =
  "The billing service stopped answering at nine this morning. A certificate had expired, and nobody had been " +
  "told about it. We made a new one, and the service answers again. A reminder is set for the next time.";

/** Measures speech, transcription and a film of two scenes. */
export async function* run(): AsyncGenerator<Figure> {
  const media = openMedia(loadConfig({ SEALOOP_DATA: await testFolder() }));
  const { tools } = media;
  const cwd = await testFolder();
  const wav = join(cwd, "said.wav");
  const { seconds } = await speak(tools, { text: TEXT, out: wav }, { cwd }); // fetches what is missing
  const heard = join(cwd, "heard.wav");
  await decodeAudio(tools, { source: wav, out: heard }, { cwd });

  /** Seconds of work for a second of sound. */
  const factor = async (length: number, work: () => Promise<unknown>) =>
    await timeMs(work) / 1_000 / length;
  const decodeAlone = () =>
    factor(seconds, () => tools.ffmpeg(["-i", wav, "-f", "null", "-"], { cwd, seconds: 60 }));

  const film = await makeFilm();
  const pairs: Readonly<Record<string, Pair<() => Promise<number>>>> = {
    "speech": {
      platform: () => factor(seconds, () => speak(tools, { text: TEXT, out: wav }, { cwd })),
      baseline: decodeAlone,
    },
    "transcript": {
      platform: () => factor(seconds, () => transcribe(tools, heard, { cwd })),
      baseline: decodeAlone,
    },
    "film of 2 scenes": {
      platform: async () => (await makeFilm()).factor,
      baseline: () => encodeAlone(film.pictures, film.seconds),
    },
  };
  for (const [name, pair] of Object.entries(pairs)) {
    const { platform, baseline } = await measureInTurns(ROUNDS, pair);
    const baselineLabel = name.startsWith("film") ? "ffmpeg alone" : "ffmpeg decoding it";
    yield { label: `${name}, seconds of work for one of it`, platform, baseline, baselineLabel };
  }

  async function makeFilm() {
    const folders = await Promise.all([testFolder(), testFolder(), testFolder()]);
    const begun = performance.now();
    const scenes = [];
    for (const n of [1, 2]) {
      const script = { n, total: 2, heading: "What happened", text: TEXT, hasFace: false, ...SIZE };
      scenes.push(await makeScene(media, script, { cwd: folders[n]! }));
    }
    const order = { title: "A film", scenes, captions: true, footer: "", ...SIZE };
    const made = await assembleFilm(media, order, { cwd: folders[0]! });
    const took = (performance.now() - begun) / 1_000;
    return { factor: took / made.seconds, seconds: made.seconds, pictures: folders[1]! };
  }

  /** Encodes the pictures of the first scene twice, and the sound, with one call of ffmpeg. */
  async function encodeAlone(pictures: string, length: number): Promise<number> {
    const folder = await testFolder();
    await cp(pictures, folder, { recursive: true });
    const lists = ["pictures.txt", "pictures.txt"].map((name) => `file '${name}'\n`);
    await writeFile(join(folder, "all.txt"), `ffconcat version 1.0\n${lists.join("")}`);
    return await factor(length, () =>
      tools.ffmpeg([
        ...[
          "-f",
          "concat",
          "-i",
          join(folder, "all.txt"),
          "-stream_loop",
          "1",
          "-i",
          join(folder, "sound.wav"),
        ],
        ...[
          "-vf",
          "fps=25,format=yuv420p",
          "-c:v",
          "libx264",
          "-preset",
          "veryfast",
          "-tune",
          "stillimage",
        ],
        ...[
          "-crf",
          "20",
          "-threads",
          "1",
          "-c:a",
          "aac",
          "-t",
          String(length),
          join(folder, "out.mp4"),
        ],
      ], { cwd: folder, seconds: 300 }));
  }
}
