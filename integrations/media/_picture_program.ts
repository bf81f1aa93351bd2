/** Draws pictures as PNG files. Its standard input is a list of them, as JSON. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { Resvg } from "@resvg/resvg-js";
import satori, { type FontWeight, type SatoriNode } from "satori";
import type { Picture } from "./pictures.ts";
import { layOut } from "./_picture_layout.ts";

const FONTS: readonly (readonly [FontWeight, string])[] = [
  [400, "400Regular/Inter_400Regular.ttf"],
  [600, "600SemiBold/Inter_600SemiBold.ttf"],
  [700, "700Bold/Inter_700Bold.ttf"],
];
/** Sizes of words, of which the largest that fits is taken. */
const SCALES = [1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4] as const;
const folder = dirname(
  createRequire(import.meta.url).resolve("@expo-google-fonts/inter/package.json"),
);
const fonts = FONTS.map(([weight, file]) => ({
  name: "Inter",
  weight,
  style: "normal" as const,
  data: readFileSync(join(folder, file)),
}));
/** Words of a picture as they are drawn, and the share of their usual size at which they fit. */
interface FittedWords extends Pick<Picture, "title" | "label" | "lines"> {
  readonly scale: number;
}
/** Fitted words by the words that were asked for: the frames of a face that speaks have the same ones. */
const fitted = new Map<string, FittedWords>();

for (const asked of JSON.parse(await text(process.stdin)) as Picture[]) {
  const { width, height, title, label, lines, timeline, mouth, out } = asked;
  const image = asked.image &&
    `data:image/png;base64,${readFileSync(asked.image).toString("base64")}`;
  const key = JSON.stringify([width, height, title, label, lines, timeline, mouth !== undefined]);
  const { scale, ...words } = fitted.get(key) ?? await fit(asked, image);
  fitted.set(key, { scale, ...words });
  const elements = layOut({ ...asked, ...words }, { image, scale });
  const svg = await satori(elements as SatoriNode, { width, height, fonts });
  const options = { font: { loadSystemFonts: false }, logLevel: "off" } as const;
  writeFileSync(out, new Resvg(svg, options).render().asPng());
}

/** Leaves out the characters that the font has no form for, and finds the largest scale at which the words fit. */
async function fit(asked: Picture, image: string | undefined): Promise<FittedWords> {
  const { unknown } = await measure(asked, image, 1);
  const { title, label, lines } = asked;
  const words = unknown.size === 0 ? { title, label, lines } : {
    title: leaveOut(unknown, title),
    label: label && leaveOut(unknown, label),
    lines: lines && [leaveOut(unknown, lines[0]), leaveOut(unknown, lines[1])] as const,
  };
  for (const scale of SCALES) {
    const { height } = await measure({ ...asked, ...words }, image, scale);
    if (height <= asked.height || scale === SCALES.at(-1)) return { ...words, scale };
  }
  throw new Error("There is no scale");
}

/** Returns how high a picture would be with all of its words, and the characters that the font has no form for. */
async function measure(picture: Picture, image: string | undefined, scale: number) {
  const unknown = new Set<string>();
  const elements = layOut(picture, { image, scale, isFree: true });
  const svg = await satori(elements as SatoriNode, {
    width: picture.width,
    fonts,
    loadAdditionalAsset: (_, segment) => {
      for (const character of segment) unknown.add(character);
      return Promise.resolve([]);
    },
  });
  return { height: Number(/ height="([\d.]+)"/.exec(svg)?.[1]), unknown };
}

/** Returns a text without some characters. Letters leave “…” behind, other characters, such as emoji, nothing. */
function leaveOut(unknown: ReadonlySet<string>, words: string): string {
  return [...words].map((one) => !unknown.has(one) ? one : /\p{L}/u.test(one) ? "…" : "").join("")
    .replace(/…[\s…]*…/g, "…").replace(/\s+/g, " ").trim();
}
