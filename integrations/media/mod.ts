/**
 * Media: pictures, speech, transcripts, films and their provenance, made by programs that are found on the machine or
 * fetched on first use. Files are kept by their content.
 *
 * ```ts
 * const media = openMedia(config);
 * const { sha256 } = await renderCard(media, { label: "Post-mortem", title, footer });
 * ```
 *
 * Trusts: the programs, whose packages are pinned by hashes. Doesn't trust: files and texts of callers; the programs run
 * within limits, in an empty environment, and without a network where the system can take it away.
 * @module
 */
export { ChildFailed } from "./_child.ts";
export { type Media, openMedia } from "./media.ts";
export {
  AUDIO_LIMITS,
  type Chapter,
  decodeAudio,
  encodeMp3,
  printTags,
  sniffAudio,
  type Tags,
  transcribe,
  TRANSCRIPTION_ENGINE,
} from "./audio.ts";
export { printSrt, printVtt } from "./captions.ts";
export { assembleFilm, type Film, type FilmOrder, type FilmProbe, probeFilm } from "./film.ts";
export { hashFile, type MediaFile, type MediaFiles, openMediaFiles } from "./files.ts";
export { type Card, drawPictures, type Picture, renderCard } from "./pictures.ts";
export { planChapters, readSections, type Section, textToSpeak } from "./posts.ts";
export {
  addProvenance,
  type Provenance,
  type ProvenanceOrder,
  readProvenance,
  SIGNABLE_TYPES,
  type SignableType,
} from "./provenance.ts";
export { type MadeScene, makeScene, type Scene, type SceneScript } from "./scene.ts";
export { inboxFolder, isUrl, takeSource } from "./sources.ts";
export {
  type Cue,
  isSpeakable,
  speak,
  type Speech,
  SPEECH_ENGINE,
  splitSentences,
  VOICES,
} from "./speech.ts";
export { type MediaTools, openMediaTools, type PythonProgram, type RunBounds } from "./tools.ts";
