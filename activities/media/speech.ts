import { join } from "node:path";
import { cancellationSignal } from "@temporalio/activity";
import { receiptIdOf } from "../../calls/mod.ts";
import type { MediaOrder, SpeechResult } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addProvenance,
  encodeMp3,
  planChapters,
  readSections,
  speak,
  SPEECH_ENGINE,
  textToSpeak,
} from "../../integrations/media/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { TenantParts } from "../parts.ts";
import { finishOnce, receiptOf } from "./_receipt.ts";
import {
  addMediaFile,
  type AudioClip,
  finishAudioClip,
  getAudioClip,
} from "../../store/media/mod.ts";

const ENCODE_SECONDS = 300;
const MP3_RATE = 44_100;

/** Creates the activity that speaks. */
export function speechActivities({ store, urls, place, media: { tools, files } }: TenantParts) {
  /**
   * Speaks a text into a WAV file, or a post into an MP3 file with chapters; writes where its receipt is into the file, and
   * requests that receipt. Safe to repeat: what this run has made already is not made again.
   */
  async function makeSpeech(order: MediaOrder): Promise<SpeechResult> {
    const receiptId = receiptIdOf(order.run, "MEDIA");
    const readStored = async () => readResult(await getAudioClip(store.db, order.id), receiptId);
    const stored = await readStored();
    if (stored) return stored;
    const clip = (await getAudioClip(store.db, order.id))!;
    return await files.inFolder(async (cwd) => {
      const bounds = { cwd, signal: cancellationSignal() };
      const made = clip.kind === "speech"
        ? await speakText(clip, bounds)
        : await speakPost(clip, receiptId, bounds);
      const target = join(cwd, "signed");
      const { source, mediaType, seconds, cues, sampleRate } = made;
      const manifest = { source, target, mediaType, title: order.id, generated: true, receiptId };
      await addProvenance(tools, { ...manifest, keys: files.keys }, bounds);
      const { sha256, bytes } = await files.keep(target);
      const rounded = Math.round(seconds * 100) / 100;
      const details = { kind: clip.kind, seconds: rounded, engine: SPEECH_ENGINE, bytes };
      const evidence = { title: clip.title, text: clip.text, file_sha256: sha256 };
      const receipt = await receiptOf({ place }, order, {
        id: receiptId,
        kind: "speech",
        details,
        evidence,
      });
      const finish = async (trx: Db) => {
        const row = { sha256, seconds: rounded, sampleRate, cues, receiptId };
        if (!await finishAudioClip(trx, order.id, row)) return false;
        await addMediaFile(trx, { sha256, bytes, mediaType });
        await requestSeal(trx, receipt);
        return true;
      };
      return await finishOnce(order, () => store.db.transaction(finish), readStored);
    });
  }

  /** @returns undefined: it is not made, or not by this run */
  function readResult(clip: AudioClip | undefined, receiptId: string): SpeechResult | undefined {
    if (clip?.state !== "done" || clip.receiptId !== receiptId) return undefined;
    const { id, kind, voice } = clip;
    const [sha256, seconds, sample_rate] = [clip.sha256!, clip.seconds!, clip.sampleRate!];
    const url = `${urls.gateway}/media/${sha256}/${id}.${kind === "speech" ? "wav" : "mp3"}`;
    const [engine, receipt_id] = [SPEECH_ENGINE, receiptId];
    return { audio_id: id, url, sha256, seconds, sample_rate, voice, engine, receipt_id };
  }

  async function speakText({ text }: AudioClip, bounds: { cwd: string; signal: AbortSignal }) {
    const source = join(bounds.cwd, "speech.wav");
    const { seconds, cues, sample_rate } = await speak(tools, { text, out: source }, bounds);
    return { source, mediaType: "audio/wav" as const, seconds, cues, sampleRate: sample_rate };
  }

  async function speakPost(
    { title, text }: AudioClip,
    receiptId: string,
    bounds: { cwd: string; signal: AbortSignal },
  ) {
    const sections = readSections(text);
    const [wav, source] = [join(bounds.cwd, "post.wav"), join(bounds.cwd, "post.mp3")];
    const words = textToSpeak(title, sections);
    const speech = await speak(tools, { text: words, out: wav }, bounds);
    const tags = { title, receiptId, chapters: planChapters(title, sections, speech) };
    await encodeMp3(tools, { source: wav, out: source, tags }, {
      ...bounds,
      seconds: ENCODE_SECONDS,
    });
    const { seconds, cues } = speech;
    return { source, mediaType: "audio/mpeg" as const, seconds, cues, sampleRate: MP3_RATE };
  }

  return { makeSpeech };
}
