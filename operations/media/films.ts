import { z } from "zod";
import { type Context, operation, unknownRecord } from "../../calls/mod.ts";
import { MEDIA_STATES } from "../../contract/domain/mod.ts";
import { exampleFilm, FilmSummary } from "../../contract/records/mod.ts";
import { Limit, Sha256, Timestamp } from "../schemas/mod.ts";
import { mediaUrl } from "./_media.ts";
import { EXAMPLE_PROJECT_ID, ProjectId } from "./_video.ts";
import {
  getVideoProject,
  listScenes,
  listVideoProjects,
  type VideoProject,
  type VideoScene,
} from "../../store/media/mod.ts";

const Artifact = z.object({ url: z.url(), sha256: Sha256 });
const Status = z.object({
  project_id: ProjectId,
  ...FilmSummary.shape,
  state: z.enum(MEDIA_STATES),
  percent: z.number().int().min(0).max(100),
  scenes: z.array(z.object({
    n: z.number().int(),
    state: z.enum(["waiting", "making", "done"]),
    attempts: z.number().int().describe("Times that it was begun; more than 1 after a crash"),
    sha256: Sha256.nullable().describe("Of its pictures, without sound; null: not made yet"),
  })),
  artifacts: z.object({ mp4: Artifact, vtt: Artifact, srt: Artifact, poster: Artifact }).nullable()
    .describe("Null: not done"),
  seconds: z.number().nullable(),
  unsigned_sha256: Sha256.nullable().describe(
    "Of the film before its manifest was written: the same film has the same",
  ),
  failure: z.string().nullable(),
  created_at: Timestamp,
  receipt_id: z.string().nullable(),
}).meta({ id: "VideoStatus" });

const exampleFile = {
  url:
    "http://127.0.0.1:8080/media/3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10/film.mp4",
  sha256: "3b5d5c3712955042212316173ccf37be8001abc4a4c2a4a5f7ea5d8a3c8d2f10",
};
const exampleStatus: z.output<typeof Status> = {
  project_id: EXAMPLE_PROJECT_ID,
  ...exampleFilm,
  state: "done",
  percent: 100,
  scenes: [{ n: 1, state: "done", attempts: 1, sha256: exampleFile.sha256 }],
  artifacts: { mp4: exampleFile, vtt: exampleFile, srt: exampleFile, poster: exampleFile },
  seconds: 21.4,
  unsigned_sha256: exampleFile.sha256,
  failure: null,
  created_at: "2026-07-01T12:00:00.000Z",
  receipt_id: "4f1d22a90b7c4f1d",
};

/** State of one film. */
export const videoStatus = operation({
  name: "video.status",
  group: "missions",
  summary: "Tell how far a film is, scene by scene",
  effect: "read",
  access: "key",
  input: z.object({ project_id: ProjectId }),
  output: Status,
  rest: { video_status: "GET /api/video/status/{project_id}" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  example: { input: { project_id: exampleStatus.project_id }, output: exampleStatus },
  run: async ({ project_id }, context) => {
    const { db } = context.store;
    const project = await getVideoProject(db, project_id);
    if (!project) {
      throw await unknownRecord(db, "film", project_id, "GET /api/video/projects lists them");
    }
    return toStatus(project, await listScenes(db, project_id), context);
  },
});

/** Films, newest first. */
export const videoProjects = operation({
  name: "video.projects",
  group: "missions",
  summary: "List films, newest first",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.object({ total: z.number().int(), projects: z.array(Status) }),
  rest: { video_projects: "GET /api/video/projects" },
  presentation: { untrusted: true },
  example: { input: {}, output: { total: 1, projects: [exampleStatus] } },
  run: async ({ limit }, context) => {
    const { db } = context.store;
    const { total, projects } = await listVideoProjects(db, limit);
    const statuses = await Promise.all(
      projects.map(async (project) => toStatus(project, await listScenes(db, project.id), context)),
    );
    return { total, projects: statuses };
  },
});

function toStatus(
  project: VideoProject,
  scenes: readonly VideoScene[],
  context: Pick<Context, "urls">,
): z.output<typeof Status> {
  const { id, state, artifacts, seconds, failure } = project;
  const done = scenes.filter(({ made }) => made).length + (state === "done" ? 1 : 0);
  const file = (sha256: string, name: string) => ({ sha256, url: mediaUrl(context, sha256, name) });
  const stateOf = ({ made, attempts }: VideoScene) =>
    made ? "done" : attempts > 0 ? "making" : "waiting";
  return {
    project_id: id,
    ...FilmSummary.parse(project),
    state,
    percent: Math.floor(100 * done / (scenes.length + 1)),
    scenes: scenes.map((scene) => ({
      n: scene.n,
      state: stateOf(scene),
      attempts: scene.attempts,
      sha256: scene.made?.videoSha256 ?? null,
    })),
    artifacts: artifacts && {
      mp4: file(artifacts.mp4, `${id}.mp4`),
      vtt: file(artifacts.vtt, `${id}.vtt`),
      srt: file(artifacts.srt, `${id}.srt`),
      poster: file(artifacts.poster, `${id}.png`),
    },
    seconds,
    unsigned_sha256: project.unsignedSha256,
    failure,
    created_at: project.createdAt,
    receipt_id: project.receiptId,
  };
}
