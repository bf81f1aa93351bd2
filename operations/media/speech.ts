import { z } from "zod";
import { type Context, operation, runForResult } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { type SpeechResult, type StartedRun, WORKFLOW } from "../../contract/domain/mod.ts";
import { SPEECH_ENGINE } from "../../integrations/media/mod.ts";
import { EXAMPLE_RUN_ID, oneLine, Sha256 } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { ArticleId, readArticle } from "./_article.ts";
import { checkQueue, enqueue, SpokenText, Voice } from "./_media.ts";
import { addAudioClip, type AudioClip } from "../../store/media/mod.ts";

/** Longest that a call waits for speech: the first one fetches the voice. */
const TIMEOUT_SECONDS = 300;

/** Id of speech. */
export const AudioId = z.string().regex(
  /^AUD-[0-9a-f]{12}$/,
  "Expected AUD- and 12 hex characters",
);

const Speech = z.object({
  workflow_id: z.string(),
  run_id: z.string(),
  audio_id: AudioId,
  url: z.url().describe("GET it with a key of your tenant"),
  sha256: Sha256,
  seconds: z.number(),
  sample_rate: z.number().int(),
  voice: z.string(),
  engine: z.string(),
  receipt_id: z.string().describe("Also in the file's C2PA manifest"),
}).meta({ id: "Speech" });

const exampleSpeech: z.output<typeof Speech> = {
  workflow_id: "speech-AUD-5b1e09c77a42",
  run_id: EXAMPLE_RUN_ID,
  audio_id: "AUD-5b1e09c77a42",
  url:
    "http://127.0.0.1:8080/media/3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10/AUD-5b1e09c77a42.wav",
  sha256: "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10",
  seconds: 2.31,
  sample_rate: 24_000,
  voice: "heart",
  engine: SPEECH_ENGINE,
  receipt_id: "4f1d22a90b7c4f1d",
};

const SPEECH = {
  group: "voice",
  effect: "run",
  access: "key",
  output: Speech,
  presentation: {
    hints: { destructive: false },
    errors: ["NotConfigured", "RateLimited", "TooLarge", "Unavailable"],
  },
  governance: { rule: "key-decides" },
  durability: {
    longRunning: { outcome: toSpeech },
    startsRun: "result",
  },
} as const;

/** Speaks a text. */
export const speakText = operation({
  ...SPEECH,
  name: "voice.speak",
  summary: "Speak an English text: a WAV file",
  description:
    "A synthetic voice on this machine; nothing is sent elsewhere. The file carries a C2PA manifest that says so. " +
    "`NotConfigured` says what the machine lacks.",
  input: z.object({ text: SpokenText.describe("English"), voice: Voice }),
  tool: { voice_tts: FULL },
  governance: { ...SPEECH.governance, check: async (_, context) => await checkQueue(context) },
  durability: { ...SPEECH.durability, startsWorkflow: WORKFLOW.speech },
  example: { input: { text: "The service answers again." }, output: exampleSpeech },
  run: async ({ text, voice }, context) =>
    await speak(context, { kind: "speech", title: "Speech", text, voice }),
});

/** Speaks a post. */
export const speakPost = operation({
  ...SPEECH,
  name: "voice.speak_post",
  summary: "Speak a post: an MP3 file with title and chapters",
  description:
    "At −16 LUFS. Each heading of the post, in Markdown, begins a chapter; code is left out. The title, the chapters and the " +
    "receipt's id are in the file's tags.",
  input: z.object({
    post: z.union([
      z.strictObject({ article_id: ArticleId }),
      z.strictObject({
        title: oneLine(1, 200),
        text: SpokenText.describe("Markdown or plain text"),
      }),
    ]),
    voice: Voice,
  }),
  tool: { voice_blog_audio: FULL },
  presentation: {
    toolText: { voice_blog_audio: "Each Markdown heading begins a chapter; code is left out." },
    ...SPEECH.presentation,
    errors: ["Conflict", "NotConfigured", "NotFound", "RateLimited", "TooLarge", "Unavailable"],
  },
  governance: {
    ...SPEECH.governance,
    check: async ({ post }, context) => {
      await readPost(post, context);
      await checkQueue(context);
    },
  },
  example: {
    input: {
      post: {
        title: "The certificate that nobody renewed",
        text: "## What happened\nThe billing service stopped at nine.",
      },
    },
    output: {
      ...exampleSpeech,
      url: exampleSpeech.url.replace(".wav", ".mp3"),
      sample_rate: 44_100,
    },
  },
  run: async ({ post, voice }, context) =>
    await speak(context, { kind: "post", ...await readPost(post, context), voice }),
});

/** Returns the title and the text of a post, as Markdown. @throws {Problem} `NotFound`, `Conflict` */
async function readPost(
  post: { readonly article_id: string } | { readonly title: string; readonly text: string },
  context: Pick<Context, "store">,
): Promise<{ readonly title: string; readonly text: string }> {
  if (!("article_id" in post)) return post;
  const { title, sections } = await readArticle(context, post.article_id);
  const parts = sections.map(({ heading, text }) =>
    heading === title ? text : `## ${heading}\n${text}`
  );
  return { title, text: parts.join("\n\n") };
}

async function speak(
  context: Context & { readonly decisionId?: string | undefined },
  clip: Pick<AudioClip, "kind" | "title" | "text" | "voice">,
) {
  const id = `AUD-${idOfCall(context.decisionId, 12)}`;
  const requested_by = `key:${context.caller.keyId}`;
  await enqueue(context, (trx) => addAudioClip(trx, { ...clip, id, requestedBy: requested_by }));
  return await runForResult(context, {
    type: WORKFLOW.speech,
    workflowId: `speech-${id}`,
    request: { id, requested_by },
    summary: clip.kind === "post" ? "Spoken post" : "Spoken text",
    timeoutSeconds: TIMEOUT_SECONDS,
  }, toSpeech);
}

function toSpeech(run: StartedRun, result: unknown) {
  return { ...run, ...result as SpeechResult };
}
