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
export { AUDIO_LIMITS, decodeAudio, encodeMp3, transcribe, TRANSCRIPTION_ENGINE } from "./audio.ts";
export { printSrt, printVtt } from "./captions.ts";
export { assembleFilm, type Film, probeFilm } from "./film.ts";
export { hashFile, type MediaFile, type MediaFiles, openMediaFiles } from "./files.ts";
export { renderCard } from "./pictures.ts";
export { planChapters, readSections, textToSpeak } from "./posts.ts";
export { addProvenance, readProvenance } from "./provenance.ts";
export { type MadeScene, makeScene } from "./scene.ts";
export { isUrl, takeSource } from "./sources.ts";
export { isSpeakable, speak, SPEECH_ENGINE, splitSentences, VOICES } from "./speech.ts";
export { type MediaTools, openMediaTools } from "./tools.ts";
