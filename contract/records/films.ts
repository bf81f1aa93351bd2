import { z } from "zod";
import { FILM_FORMATS } from "../domain/mod.ts";
import type { DeepReadonly } from "./deep_readonly.ts";
import { oneLine } from "./texts.ts";

/** Fields of a film that its caller writes, besides its scenes. */
export const FilmFields = z.object({
  title: oneLine(1, 200),
  format: z.enum(Object.keys(FILM_FORMATS) as [keyof typeof FILM_FORMATS]).default("landscape")
    .describe("landscape is 1280 × 720, square 720 × 720, portrait 720 × 1280"),
  captions: z.boolean().default(true).describe(
    "True: the film carries its captions as a track. They are given as WebVTT and SubRip in any case",
  ),
});

/** Fields of a film that its caller writes. */
export type FilmFields = DeepReadonly<z.output<typeof FilmFields>>;

/** Those of them with texts, which may name people. */
export const FILM_TEXTS = ["title"] as const satisfies readonly (keyof FilmFields)[];

/** Fields of a film that its status tells as they are stored. */
export const FilmSummary = z.object({
  kind: z.enum(["film", "avatar"]).describe("avatar: an animation, a drawn face that speaks"),
  title: z.string(),
});

/** Fields of a film that its status tells as they are stored. */
export type FilmSummary = DeepReadonly<z.output<typeof FilmSummary>>;

/** A film, in examples. */
export const exampleFilm: FilmSummary = {
  kind: "film",
  title: "The certificate that nobody renewed",
};
