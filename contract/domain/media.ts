import type { RunId } from "./incidents.ts";

/** Formats of films: width and height in pixels. */
export const FILM_FORMATS = {
  landscape: { width: 1280, height: 720 },
  square: { width: 720, height: 720 },
  portrait: { width: 720, height: 1280 },
} as const;

/** Bounds of one request for media. */
export const MEDIA_LIMITS = {
  scenes: 20,
  /** Characters of a film's scenes together, or of a text that is spoken. */
  characters: 12_000,
  /** Sentences of the same: each becomes a picture, and is spoken by itself. */
  sentences: 300,
} as const;

/** States of a request for media. */
export const MEDIA_STATES = ["queued", "running", "done", "failed"] as const;

/** State of a request for media. */
export type MediaState = typeof MEDIA_STATES[number];

/** A request for media, by the row that has its texts. */
export interface MediaRequest {
  readonly id: string;
  /** Number of scenes of a film. */
  readonly scenes?: number;
  readonly requested_by: string;
}

/** The same with its run. */
export interface MediaOrder extends MediaRequest {
  readonly run: RunId;
}

/** A scene of a film to make. */
export interface SceneOrder {
  readonly id: string;
  /** From 1. */
  readonly n: number;
}

/** Progress of a run of media. */
export interface MediaProgress {
  readonly done: number;
  readonly total: number;
  /** For people, without private text. */
  readonly message: string;
}

/** Result of a film. */
export interface FilmResult {
  readonly project_id: string;
  readonly seconds: number;
  readonly artifacts: FilmArtifacts;
  /** Hash of the film before its manifest was written, the same whenever it is made of the same. */
  readonly unsigned_sha256: string;
  readonly receipt_id: string;
}

/** Files of a film, by their SHA-256. */
export interface FilmArtifacts {
  readonly mp4: string;
  readonly vtt: string;
  readonly srt: string;
  readonly poster: string;
}

/** Result of speech. */
export interface SpeechResult {
  readonly audio_id: string;
  readonly url: string;
  readonly sha256: string;
  readonly seconds: number;
  readonly sample_rate: number;
  readonly voice: string;
  readonly engine: string;
  readonly receipt_id: string;
}

/** A part of a transcript, seconds from the start. */
export interface Segment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Result of a transcription. */
export interface TranscriptionResult {
  readonly transcript_id: string;
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly language: string;
  readonly engine: string;
  /** True: nobody speaks, so there is no text. */
  readonly no_speech: boolean;
  readonly receipt_id: string;
}
