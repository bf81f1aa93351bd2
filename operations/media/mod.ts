/** Films, speech and transcripts. @module */
import { videoProjects, videoStatus } from "./films.ts";
import { renderAvatar, renderVideo } from "./render.ts";
import { speakPost, speakText } from "./speech.ts";
import { transcribeRecording } from "./transcription.ts";

/** Operations on films, speech and transcripts. */
export const mediaOperations = [
  renderVideo,
  renderAvatar,
  videoStatus,
  videoProjects,
  speakText,
  speakPost,
  transcribeRecording,
];
