import { z } from "zod";
import { type Context, runAlone } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { WORKFLOW } from "../../contract/domain/mod.ts";
import { exampleStartedRun, StartedRun } from "../schemas/mod.ts";
import { enqueue } from "./_media.ts";
import { addVideoProject, type NewVideoProject } from "../../store/media/mod.ts";

/** Id of a film. */
export const ProjectId = z.string().regex(
  /^VID-[0-9a-f]{12}$/,
  "Expected VID- and 12 hex characters",
)
  .describe("Id of the film");
/** Id of the film in examples. */
export const EXAMPLE_PROJECT_ID = "VID-5b1e09c77a42";

/** The run of a film. */
export const StartedVideo = StartedRun.extend({ project_id: ProjectId });
/** Example of a film's run. */
export const exampleStartedVideo = {
  ...exampleStartedRun,
  workflow_id: `video-${EXAMPLE_PROJECT_ID}`,
  result_url: `http://127.0.0.1:8080/v1/workflows/video-${EXAMPLE_PROJECT_ID}/result`,
  project_id: EXAMPLE_PROJECT_ID,
};

/** Adds a film to the queue, and starts its workflow. */
export async function startVideo(
  context: Context & { readonly decisionId?: string | undefined },
  project: Omit<NewVideoProject, "id" | "requestedBy">,
  waitSeconds: number | undefined,
) {
  const id = `VID-${idOfCall(context.decisionId, 12)}`;
  const requested_by = `key:${context.caller.keyId}`;
  await enqueue(
    context,
    (trx) => addVideoProject(trx, { ...project, id, requestedBy: requested_by }),
  );
  const status = await runAlone(context, {
    type: WORKFLOW.video,
    workflowId: `video-${id}`,
    request: { id, scenes: project.scenes.length, requested_by },
    summary: `${project.kind === "film" ? "Film" : "Animation"} of ${project.scenes.length} scenes`,
    given: { project_id: id },
  }, waitSeconds);
  return { ...status, project_id: id };
}
