import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { WorkflowHandle } from "@temporalio/client";
import { TASK_QUEUE, WORKFLOW, type WorkflowName } from "../../contract/domain/mod.ts";
import { openMedia, speak } from "../../integrations/media/mod.ts";
import { testFolder } from "../_run.ts";
import type { TestLoop } from "./_loop.ts";
import {
  addAudioClip,
  addMediaFile,
  addTranscript,
  addVideoProject,
  finishAudioClip,
} from "../../store/media/mod.ts";

const requestedBy = "key:recorder";

/** Scenarios of media by the names of their files. They need ffmpeg and Python. */
export function mediaScenarios(
  loop: TestLoop,
): Readonly<Record<string, () => Promise<WorkflowHandle>>> {
  const db = loop.store.asPlatform();

  async function run(type: WorkflowName, workflowId: string, request: object) {
    const handle = await loop.client.workflow.start(type, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId,
      args: [{ ...request, requested_by: requestedBy }],
    });
    await handle.result().catch(() => {}); // some are to fail
    return handle;
  }

  async function film(id: string, more: { image?: string; audioId?: string } = {}) {
    const scenes = ["It stopped.", "It answers again."].map((text) => ({
      heading: "A",
      text,
      ...more,
    }));
    const project = {
      id,
      kind: "film",
      title: "A film",
      format: "square",
      captions: true,
    } as const;
    await db.transaction((trx) => addVideoProject(trx, { ...project, requestedBy, scenes }));
    return await run(WORKFLOW.video, `video-${id}`, { id, scenes: scenes.length });
  }

  return {
    "speech.spoken": async () => {
      const clip = { id: "AUD-000000000001", title: "Speech", text: "Hello.", voice: "heart" };
      await addAudioClip(db, { ...clip, kind: "speech", requestedBy });
      return await run(WORKFLOW.speech, `speech-${clip.id}`, { id: clip.id });
    },
    "transcription.written": async () => {
      const inbox = join(loop.config.dataDir, "inbox");
      await mkdir(inbox, { recursive: true });
      const out = join(inbox, "said.wav");
      await speak(openMedia(loop.config).tools, { text: "Hello.", out }, {
        cwd: await testFolder(),
      });
      const id = "TRN-000000000001";
      await addTranscript(db, { id, source: "said.wav", requestedBy });
      return await run(WORKFLOW.transcription, `transcription-${id}`, { id });
    },
    "video.made": () => film("VID-000000000001"),
    "video.failed": () => film("VID-000000000002", { image: "missing.png" }),
    "video.program_failed": async () => {
      const file = await openMedia(loop.config).files.keepBytes("This is no sound");
      await addMediaFile(db, { ...file, mediaType: "audio/wav" });
      const clip = { id: "AUD-000000000002", title: "Speech", text: "Hello.", voice: "heart" };
      await addAudioClip(db, { ...clip, kind: "speech", requestedBy });
      const { sha256 } = file;
      const made = { sha256, seconds: 1, sampleRate: 24_000, cues: [], receiptId: "0".repeat(16) };
      await finishAudioClip(db, clip.id, made);
      return await film("VID-000000000003", { audioId: clip.id });
    },
  };
}
