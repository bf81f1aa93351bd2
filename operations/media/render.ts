import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { MEDIA_LIMITS, WORKFLOW } from "../../contract/domain/mod.ts";
import { exampleFilm, FilmFields } from "../../contract/records/mod.ts";
import { completedRun, oneLine, Sha256, WaitSeconds } from "../schemas/mod.ts";
import { ArticleId, readArticle } from "./_article.ts";
import { checkImage, checkQueue, countSentences, InboxPath, SpokenText, Voice } from "./_media.ts";
import { exampleStartedVideo, StartedVideo, startVideo } from "./_video.ts";
import { AudioId } from "./speech.ts";
import { getAudioClip, type NewVideoProject } from "../../store/media/mod.ts";

const SceneInput = z.object({
  heading: oneLine(1, 120),
  text: SpokenText.describe("Is spoken, and shown sentence by sentence"),
  image: z.union([Sha256, InboxPath]).optional().describe(
    "PNG or JPEG: SHA-256 of a file made here, or a path below the inbox folder",
  ),
});

const { title: Title, format: Format, ...others } = FilmFields.shape;

const RenderInput = z.object({
  title: Title,
  scenes: z.array(SceneInput).min(1).max(MEDIA_LIMITS.scenes).optional(),
  article_id: ArticleId.optional().describe("In place of scenes: each section becomes one"),
  format: Format,
  voice: Voice,
  ...others,
  wait_seconds: WaitSeconds,
});

/** Makes a film. */
export const renderVideo = operation({
  name: "video.render",
  group: "missions",
  summary: "Make a narrated film with captions from scenes of text",
  description:
    "Speaks each scene, shows its sentences as pictures, and puts the scenes together: MP4 (H.264, AAC, −16 LUFS), captions as " +
    "WebVTT and SubRip, a poster. Films are made one at a time; GET /api/video/status/{project_id} tells which scene is being " +
    "made. The film and its poster carry a C2PA manifest with the id of the receipt; its signer is this platform's own, so " +
    "readers call it valid and untrusted.",
  effect: "run",
  access: "key",
  input: RenderInput,
  output: StartedVideo,
  rest: { video_render: "POST /api/video/ffmpeg/render" },
  presentation: {
    hints: { destructive: false },
    errors: ["Conflict", "Forbidden", "NotFound", "RateLimited", "TooLarge", "Unavailable"],
  },
  governance: {
    rule: "key-decides",
    check: async (input, context) => {
      await readScenes(input, context);
      await checkQueue(context);
    },
  },
  durability: {
    startsWorkflow: WORKFLOW.video,
    longRunning: { outcome: completedRun },
    startsRun: "status",
  },
  example: {
    input: {
      title: exampleFilm.title,
      scenes: [{ heading: "What happened", text: "The billing service stopped at nine." }],
    },
    output: exampleStartedVideo,
  },
  run: async ({ wait_seconds, ...input }, context) => {
    const scenes = await readScenes(input, context);
    const project = { kind: "film", ...FilmFields.parse(input), scenes } as const;
    return await startVideo(context, project, wait_seconds);
  },
});

/** Fields of an animation. */
const ANIMATION = FilmFields.parse({ title: "Animation" });

/** Makes an animation of a face that speaks. */
export const renderAvatar = operation({
  name: "video.avatar",
  group: "missions",
  summary: "Make an animation: a drawn face that speaks a text",
  description:
    "The mouth follows the loudness of the voice. It is a drawing and no person, and each picture says so. `text` is spoken; " +
    "`audio_id` takes speech that voice_tts or voice_blog_audio has made.",
  effect: "run",
  access: "key",
  input: z.object({
    text: SpokenText.optional().describe("Text to speak"),
    audio_id: AudioId.optional().describe("Speech to animate"),
    avatar: z.enum(["round"]).default("round").describe("The face"),
    voice: Voice,
    wait_seconds: WaitSeconds,
  }),
  output: StartedVideo,
  rest: { video_avatar: "POST /api/video/avatar" },
  presentation: {
    hints: { destructive: false },
    errors: ["Conflict", "NotFound", "RateLimited", "Unavailable"],
  },
  governance: { rule: "key-decides", check: async (_, context) => await checkQueue(context) },
  durability: { startsRun: "status", longRunning: { outcome: completedRun } },
  example: { input: { text: "Hello. Everything is well again." }, output: exampleStartedVideo },
  run: async ({ text, audio_id, wait_seconds }, context) => {
    if ((text === undefined) === (audio_id === undefined)) {
      throw new Problem("Conflict", "Send either text or audio_id");
    }
    const clip = audio_id === undefined
      ? undefined
      : await getAudioClip(context.store.db, audio_id);
    if (audio_id !== undefined && clip?.state !== "done") {
      throw new Problem("NotFound", `There is no speech ${audio_id} that is done`);
    }
    if (clip?.kind === "post") {
      throw new Problem("Conflict", "Only speech of voice_tts can be animated");
    }
    const title = clip?.title ?? ANIMATION.title;
    const scene = { heading: title, text: clip?.text ?? text!, audioId: audio_id };
    const project = { kind: "avatar", ...ANIMATION, title } as const;
    return await startVideo(context, { ...project, scenes: [scene] }, wait_seconds);
  },
});

/**
 * Returns the scenes of a film: those of the request, or of its article.
 *
 * @throws {Problem} `Conflict`, `NotFound`, `Forbidden`, `TooLarge`
 */
async function readScenes(
  { scenes, article_id }: Pick<z.output<typeof RenderInput>, "scenes" | "article_id">,
  context: Pick<Context, "store">,
): Promise<NewVideoProject["scenes"]> {
  if ((scenes === undefined) === (article_id === undefined)) {
    throw new Problem("Conflict", "Send either scenes or article_id");
  }
  if (!scenes) {
    const { sections, incident } = await readArticle(context, article_id!);
    return sections.map(({ heading, text }) => ({
      heading: heading.slice(0, 120),
      text,
      incident,
    }));
  }
  const length = scenes.reduce((sum, { text }) => sum + text.length, 0);
  if (length > MEDIA_LIMITS.characters) {
    throw new Problem(
      "TooLarge",
      `The scenes have ${length} characters together; ${MEDIA_LIMITS.characters} are possible`,
    );
  }
  const sentences = countSentences(scenes.map(({ text }) => text));
  if (sentences > MEDIA_LIMITS.sentences) {
    throw new Problem(
      "TooLarge",
      `The scenes have ${sentences} sentences together; ${MEDIA_LIMITS.sentences} are possible`,
    );
  }
  for (const { image } of scenes) if (image) await checkImage(context, image);
  return scenes;
}
