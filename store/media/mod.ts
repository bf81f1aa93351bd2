/**
 * Media and recordings: what was made, and from what.
 *
 * @module
 */
export {
  addVideoProject,
  beginScene,
  countOpenMedia,
  countVideoProjects,
  failMedia,
  finishScene,
  finishVideo,
  getVideoProject,
  listScenes,
  listVideoProjects,
  lockMediaQueue,
  type NewVideoProject,
  type VideoProject,
  type VideoScene,
} from "./media.ts";
export {
  addAudioClip,
  addMediaFile,
  addTranscript,
  type AudioClip,
  findPublishedFile,
  finishAudioClip,
  finishTranscript,
  getAudioClip,
  getMediaFile,
  getTranscript,
  listNeededFiles,
  listTranscripts,
  type MediaRecord,
  pruneCards,
  publishMediaFile,
  sumMediaBytes,
  type Transcript,
} from "./recordings.ts";
