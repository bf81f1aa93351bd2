/** Activities that make media. @module */
export { endedMediaActivities, mediaKind } from "./ended.ts";
export { speechActivities } from "./speech.ts";
export { transcriptionActivities } from "./transcription.ts";
export { videoActivities } from "./video.ts";
