import { cancellationSignal } from "@temporalio/activity";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  FILM_FORMATS,
  type FilmResult,
  type MediaOrder,
  PLATFORM_TENANT,
  type SceneOrder,
} from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addProvenance,
  assembleFilm,
  hashFile,
  makeScene,
  probeFilm,
  SPEECH_ENGINE,
  takeSource,
} from "../../integrations/media/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { TenantParts } from "../parts.ts";
import { finishOnce, receiptOf } from "./_receipt.ts";
import {
  addMediaFile,
  beginScene,
  finishScene,
  finishVideo,
  getAudioClip,
  getMediaFile,
  getVideoProject,
  listScenes,
  type VideoProject,
  type VideoScene,
} from "../../store/media/mod.ts";

const SHA256 = /^[0-9a-f]{64}$/;
/** Longest difference between the film and its scenes. */
const MAX_DRIFT_SECONDS = 0.1;

/** Creates the activities that make films. */
export function videoActivities({ config, store, place, media }: TenantParts) {
  const { db } = store;
  const { tools, files } = media;

  /**
   * Makes a scene of a film, and keeps its files by their content. Safe to repeat: a scene that is made and whose files are
   * there is not made again, and one that is made again is the same.
   *
   * @returns its length, seconds
   */
  async function makeVideoScene({ id, n }: SceneOrder): Promise<number> {
    const { format, kind } = (await getVideoProject(db, id))!;
    const scenes = await listScenes(db, id);
    const { made, ...scene } = scenes[n - 1]!;
    const isThere = made && await files.find(made.videoSha256) &&
      await files.find(made.soundSha256);
    if (isThere) return made.seconds;
    await db.transaction((trx) => beginScene(trx, id, n));
    return await files.inFolder(async (cwd) => {
      const bounds = { cwd, signal: cancellationSignal() };
      const script = {
        n,
        total: scenes.length,
        heading: scene.heading,
        text: scene.text,
        incident: scene.incident ?? undefined,
        hasFace: kind === "avatar",
        ...FILM_FORMATS[format],
        image: await findImage(scene, bounds),
        voice: await findVoice(scene),
      };
      const result = await makeScene(media, script, bounds);
      await finishScene(db, id, n, result);
      return result.seconds;
    });
  }

  /** @returns path of the picture of a scene, or undefined @throws {Problem} `NotFound`, `Forbidden` */
  async function findImage(
    { image }: Pick<VideoScene, "image">,
    bounds: { cwd: string; signal: AbortSignal },
  ): Promise<string | undefined> {
    if (image === null) return undefined;
    if (!SHA256.test(image)) {
      if (store.tenant === PLATFORM_TENANT) return await takeSource(config, image, bounds);
      throw new Problem("Forbidden", "The inbox folder is the operator's: name a file made here");
    }
    const path = await getMediaFile(db, image) && await files.find(image);
    if (path) return path;
    throw new Problem("NotFound", "There is no such image");
  }

  async function findVoice({ audioId }: Pick<VideoScene, "audioId">) {
    if (audioId === null) return undefined;
    const clip = await getAudioClip(db, audioId);
    const isKept = clip?.sha256 && await getMediaFile(db, clip.sha256);
    const path = isKept && await files.find(clip.sha256!);
    if (path) return { path, cues: clip.cues ?? [] };
    throw new Problem("NotFound", `There is no speech ${audioId}`);
  }

  /**
   * Puts the scenes of a film together, checks the result, writes where its receipt is into the film and its poster, and
   * requests that receipt. Safe to repeat: a film that this run has finished already is not made again.
   *
   * @throws {Problem} `Conflict`: the result is not what was ordered
   */
  async function finishFilm(order: MediaOrder): Promise<FilmResult> {
    const receiptId = receiptIdOf(order.run, "MEDIA");
    const readStored = async () => readResult(await getVideoProject(db, order.id), receiptId);
    const stored = await readStored();
    if (stored) return stored;
    const project = (await getVideoProject(db, order.id))!;
    const scenes = (await listScenes(db, order.id)).map(({ made }) => made!);
    return await files.inFolder(async (cwd) => {
      const bounds = { cwd, signal: cancellationSignal() };
      const size = FILM_FORMATS[project.format];
      const footer = `sealoop · receipt ${receiptId}`;
      const film = await assembleFilm(media, { ...project, scenes, footer, ...size }, bounds);
      const probe = await probeFilm(tools, film.mp4, bounds);
      const isRight = /^h264 /.test(probe.video) && /^aac /.test(probe.audio) &&
        probe.video.includes(`${size.width}x${size.height}`) &&
        Math.abs(probe.seconds - film.seconds) <= MAX_DRIFT_SECONDS;
      if (!isRight) {
        throw new Problem(
          "Conflict",
          "The film is not what was ordered: length, size or codec differ",
        );
      }
      const { sha256: unsigned_sha256 } = await hashFile(film.mp4);
      const sign = async (source: string, mediaType: "video/mp4" | "image/png") => {
        const target = `${source}.signed`;
        const generated = mediaType === "video/mp4"; // a model speaks in it
        const manifest = { source, target, mediaType, title: order.id, generated, receiptId };
        await addProvenance(tools, { ...manifest, keys: files.keys }, bounds);
        return { ...await files.keep(target), mediaType };
      };
      const kept = {
        mp4: await sign(film.mp4, "video/mp4"),
        poster: await sign(film.poster, "image/png"),
        vtt: { ...await files.keepBytes(film.vtt), mediaType: "text/vtt" },
        srt: { ...await files.keepBytes(film.srt), mediaType: "application/x-subrip" },
      };
      const artifacts = {
        mp4: kept.mp4.sha256,
        vtt: kept.vtt.sha256,
        srt: kept.srt.sha256,
        poster: kept.poster.sha256,
      };
      const { seconds } = film;
      const details = {
        kind: project.kind,
        scenes: scenes.length,
        seconds,
        width: size.width,
        height: size.height,
        captions: probe.hasCaptions,
        bytes: kept.mp4.bytes,
        engine: SPEECH_ENGINE,
      };
      const hashes = { file_sha256: artifacts.mp4, unsigned_sha256, ...artifacts };
      const evidence = { title: project.title, ...hashes };
      const made = { id: receiptId, kind: "film", details, evidence } as const;
      const receipt = await receiptOf({ place }, order, made);
      const finish = async (trx: Db) => {
        const row = { seconds, artifacts, unsignedSha256: unsigned_sha256, receiptId };
        if (!await finishVideo(trx, order.id, row)) return false;
        for (const file of Object.values(kept)) await addMediaFile(trx, file);
        await requestSeal(trx, receipt);
        return true;
      };
      return await finishOnce(order, () => db.transaction(finish), readStored);
    });
  }

  /** @returns undefined: it is not made, or not by this run */
  function readResult(
    project: VideoProject | undefined,
    receiptId: string,
  ): FilmResult | undefined {
    if (project?.state !== "done" || project.receiptId !== receiptId) return undefined;
    return {
      project_id: project.id,
      seconds: project.seconds!,
      artifacts: project.artifacts!,
      unsigned_sha256: project.unsignedSha256!,
      receipt_id: receiptId,
    };
  }

  return { makeVideoScene, finishFilm };
}
