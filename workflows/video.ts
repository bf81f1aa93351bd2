import { type FilmResult, type MediaRequest } from "../contract/domain/mod.ts";
import { makeMedia, runPrograms } from "./_media.ts";
import { MEDIA, perform } from "./_options.ts";

/**
 * Makes one film: each scene by itself, so that none is made again after a crash, and then the whole. Its id is
 * `video-<project id>`.
 */
export async function video(request: MediaRequest): Promise<FilmResult> {
  const scenes = request.scenes!;
  return await makeMedia(request, scenes + 1, async (order, show) => {
    for (let n = 1; n <= scenes; n++) {
      show(n - 1, `scene ${n} of ${scenes}`);
      await runPrograms(() =>
        perform(MEDIA, `Scene ${n} of ${scenes}`).makeVideoScene({ id: order.id, n })
      );
    }
    show(scenes, "puts the scenes together");
    return await runPrograms(() =>
      perform(MEDIA, `Puts ${scenes} scenes together`).finishFilm(order)
    );
  });
}
