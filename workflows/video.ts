import { type FilmResult, type MediaRequest } from "../contract/domain/mod.ts";
import { makeMedia, runPrograms } from "./_media.ts";
import { performMedia } from "./_options.ts";

/**
 * Makes one film: each scene by itself, so that none is made again after a crash, and then the whole. Its id is
 * `video-<project id>`.
 */
export async function video(request: MediaRequest): Promise<FilmResult> {
  const scenes = request.scenes!;
  return await makeMedia(request, scenes + 1, async (order, place, show) => {
    for (let n = 1; n <= scenes; n++) {
      show(n - 1, `scene ${n} of ${scenes}`);
      await runPrograms(() =>
        performMedia(place, `Scene ${n} of ${scenes}`).makeVideoScene({ id: order.id, n })
      );
    }
    show(scenes, "puts the scenes together");
    return await runPrograms(() =>
      performMedia(place, `Puts ${scenes} scenes together`).finishFilm(order)
    );
  });
}
