import { join } from "node:path";
import { cancellationSignal } from "@temporalio/activity";
import { receiptIdOf } from "../../calls/mod.ts";
import {
  type MediaOrder,
  PLATFORM_TENANT,
  type TranscriptionResult,
} from "../../contract/domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  decodeAudio,
  hashFile,
  isUrl,
  printVtt,
  takeSource,
  transcribe,
  TRANSCRIPTION_ENGINE,
} from "../../integrations/media/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { TenantParts } from "../parts.ts";
import { finishOnce, receiptOf } from "./_receipt.ts";
import { finishTranscript, getTranscript, type Transcript } from "../../store/media/mod.ts";

/** Creates the activity that transcribes. */
export function transcriptionActivities(
  { config, store, place, media: { tools, files } }: TenantParts,
) {
  /**
   * Fetches a recording, writes down what is said in it, and requests the receipt. Nothing is done about what was said: it is
   * text to read. Safe to repeat: what this run has written already is not written again.
   */
  async function makeTranscript(order: MediaOrder): Promise<TranscriptionResult> {
    const receiptId = receiptIdOf(order.run, "MEDIA");
    const readStored = async () => readResult(await getTranscript(store.db, order.id), receiptId);
    const stored = await readStored();
    if (stored) return stored;
    const { source } = (await getTranscript(store.db, order.id))!;
    if (!isUrl(source) && store.tenant !== PLATFORM_TENANT) {
      throw new Problem("Forbidden", "The inbox folder is the operator's: name a URL");
    }
    return await files.inFolder(async (cwd) => {
      const bounds = { cwd, signal: cancellationSignal() };
      const path = await takeSource(config, source, bounds);
      const { sha256, bytes } = await hashFile(path);
      const audio = join(cwd, "audio.wav");
      const seconds =
        Math.round(100 * await decodeAudio(tools, { source: path, out: audio }, bounds)) / 100;
      const segments = (await transcribe(tools, audio, bounds)).map(({ text, start, end }) => ({
        text,
        start: Math.round(start * 100) / 100,
        end: Math.round(end * 100) / 100,
      }));
      const text = segments.map((segment) => segment.text).join(" ");
      const no_speech = segments.length === 0;
      const details = {
        seconds,
        bytes,
        segments: segments.length,
        no_speech,
        engine: TRANSCRIPTION_ENGINE,
      };
      const evidence = { source, text, file_sha256: sha256 };
      const made = { id: receiptId, kind: "transcript", details, evidence } as const;
      const receipt = await receiptOf({ place }, order, made);
      const finish = async (trx: Db) => {
        const row = { seconds, text, segments, vtt: printVtt(segments), receiptId };
        if (!await finishTranscript(trx, order.id, row)) return false;
        await requestSeal(trx, receipt);
        return true;
      };
      return await finishOnce(order, () => store.db.transaction(finish), readStored);
    });
  }

  /** @returns undefined: it is not written, or not by this run */
  function readResult(
    transcript: Transcript | undefined,
    receiptId: string,
  ): TranscriptionResult | undefined {
    if (transcript?.state !== "done" || transcript.receiptId !== receiptId) return undefined;
    const { id, language } = transcript;
    const [text, segments] = [transcript.text!, transcript.segments!];
    const [engine, no_speech] = [TRANSCRIPTION_ENGINE, segments.length === 0];
    return {
      transcript_id: id,
      text,
      segments,
      language,
      engine,
      no_speech,
      receipt_id: receiptId,
    };
  }

  return { makeTranscript };
}
