import type { MediaRequest, TranscriptionResult } from "../contract/domain/mod.ts";
import { makeMedia, runPrograms } from "./_media.ts";
import { performMedia } from "./_options.ts";

/** Writes down what is said in one recording. Its id is `transcription-<transcript id>`. */
export async function transcription(request: MediaRequest): Promise<TranscriptionResult> {
  return await makeMedia(request, 1, async (order, place, show) => {
    show(0, "listens");
    return await runPrograms(() =>
      performMedia(place, `Listens to ${order.id}`).makeTranscript(order)
    );
  });
}
