import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Limit } from "../schemas/mod.ts";
import { listTranscripts } from "../../store/media/mod.ts";

/** Transcripts, newest first. */
export const transcriptList = operation({
  name: "transcripts.list",
  group: "missions",
  summary: "List transcripts of speech, newest first",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.object({
    total: z.number().int(),
    transcripts: z.array(z.object({
      transcript_id: z.string(),
      source: z.string(),
      seconds: z.number().nullable().describe("Null: it is not transcribed yet"),
      words: z.number().int().nullable(),
      language: z.string(),
      text: z.string().nullable(),
      vtt: z.string().nullable().describe("With times, as WebVTT"),
    })),
  }),
  rest: { seo_transcripts: "GET /api/seo/transcripts" },
  presentation: { untrusted: true },
  example: {
    input: { limit: 1 },
    output: {
      total: 1,
      transcripts: [{
        transcript_id: "TRN-5b1e09c77a42",
        source: "stand-up.wav",
        seconds: 3.2,
        words: 4,
        language: "en",
        text: "The disk is full.",
        vtt: "WEBVTT\n\n00:00.000 --> 00:03.200\nThe disk is full.\n",
      }],
    },
  },
  run: async ({ limit }, { store }) => {
    const { total, transcripts } = await listTranscripts(store.db, limit);
    return {
      total,
      transcripts: transcripts.map(({ id, source, seconds, words, language, text, vtt }) => ({
        transcript_id: id,
        source,
        seconds,
        words,
        language,
        text,
        vtt,
      })),
    };
  },
});
