import type { MediaRequest, SpeechResult } from "../contract/domain/mod.ts";
import { makeMedia, runPrograms } from "./_media.ts";
import { performMedia } from "./_options.ts";

/** Speaks one text, or one post with chapters. Its id is `speech-<audio id>`. */
export async function speech(request: MediaRequest): Promise<SpeechResult> {
  return await makeMedia(request, 1, async (order, place, show) => {
    show(0, "speaks");
    return await runPrograms(() => performMedia(place, `Speaks ${order.id}`).makeSpeech(order));
  });
}
