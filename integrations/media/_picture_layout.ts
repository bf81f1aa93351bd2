import type { Picture } from "./pictures.ts";

/** An element as satori draws it. */
interface Element {
  readonly type: string;
  readonly props: Readonly<Record<string, unknown>>;
}

const COLOUR = {
  ground: "#0b1220",
  glow: "#16325c",
  text: "#f8fafc",
  dim: "#8aa0bf",
  accent: "#38bdf8",
  skin: "#fcd9b6",
  dark: "#1e293b",
} as const;

/**
 * Returns the elements of a picture.
 *
 * @param options.image data URI of the picture beside the words
 * @param options.scale share of the usual size of everything but the margins
 * @param options.isFree true: it is as high as its words, and not as the picture
 */
export function layOut(picture: Picture, { image, scale, isFree = false }: {
  readonly image: string | undefined;
  readonly scale: number;
  readonly isFree?: boolean;
}): Element {
  const { width, height, title, label, footer } = picture;
  const unit = Math.min(width, height) / 720;
  const size = (pixels: number) => Math.round(pixels * unit * scale);
  const isCard = picture.lines === undefined;
  const head = [
    ...(label
      ? [
        box({ color: COLOUR.accent, fontSize: size(26), fontWeight: 600, letterSpacing: 1 }, label),
      ]
      : []),
    box({
      fontSize: size(isCard ? cardSize(title) : 46),
      fontWeight: 700,
      lineHeight: 1.15,
      letterSpacing: -1,
    }, title),
  ];
  const middle = picture.timeline
    ? [layOutTimeline(picture.timeline, size)]
    : isCard
    ? []
    : [layOutMiddle(picture, image, size)];
  const end = box({ flexDirection: "column", gap: size(20) }, [
    ...(picture.progress === undefined ? [] : [layOutProgress(picture.progress, size)]),
    box({ color: COLOUR.dim, fontSize: size(22) }, footer),
  ]);
  const margin = Math.round(64 * unit);
  const content = box({
    flexDirection: "column",
    justifyContent: "space-between",
    gap: size(20),
    width: width - 2 * margin,
    ...(isFree ? {} : { height: height - 2 * margin }),
    margin,
  }, [box({ flexDirection: "column", gap: size(20) }, head), ...middle, end]);
  return box({
    width,
    ...(isFree ? {} : { height, overflow: "hidden" }),
    fontFamily: "Inter",
    wordBreak: "break-word",
    color: COLOUR.text,
    backgroundColor: COLOUR.ground,
    backgroundImage: `radial-gradient(circle at 85% 10%, ${COLOUR.glow} 0%, ${COLOUR.ground} 60%)`,
  }, [content]);
}

/** The longer the title, the smaller. */
function cardSize(title: string): number {
  return title.length < 40 ? 82 : title.length < 90 ? 64 : 50;
}

function layOutMiddle(
  { lines, mouth, width, height }: Picture,
  image: string | undefined,
  size: (pixels: number) => number,
): Element {
  const [before, now] = lines!;
  const isTall = height >= width;
  const grow = isTall ? {} : { flexGrow: 1, flexBasis: 0 };
  const words = box({ flexDirection: "column", gap: size(24), ...grow }, [
    ...(before ? [box({ color: COLOUR.dim, fontSize: size(30), lineHeight: 1.35 }, before)] : []),
    ...(now ? [box({ fontSize: size(42), fontWeight: 600, lineHeight: 1.3 }, now)] : []),
  ]);
  const side = mouth !== undefined
    ? layOutFace(mouth, size(300))
    : image && layOutImage(image, size);
  return box({
    flexDirection: isTall ? "column" : "row",
    alignItems: isTall ? "flex-start" : "center",
    gap: size(56),
  }, side ? [side, words] : [words]);
}

/** Times of the steps: a line a step, as long as it took. */
function layOutTimeline(
  { lines, took }: NonNullable<Picture["timeline"]>,
  size: (pixels: number) => number,
): Element {
  const percent = (share: number) => `${Math.round(share * 1000) / 10}%`;
  const bar = { height: size(22), borderRadius: size(4) };
  const rows = lines.map(({ name, from, share, took }) =>
    box({ alignItems: "center", gap: size(24) }, [
      box({ width: size(190), fontSize: size(30), fontWeight: 600 }, name),
      box({ ...bar, flexGrow: 1, flexBasis: 0, backgroundColor: COLOUR.dark }, [
        box({ width: percent(Math.min(from, 0.992)) }, []),
        box({ ...bar, width: percent(Math.max(share, 0.008)), backgroundColor: COLOUR.accent }, []),
      ]),
      box({ width: size(170), fontSize: size(30), justifyContent: "flex-end" }, took),
    ])
  );
  return box({ flexDirection: "column", gap: size(18), width: "100%" }, [
    ...rows,
    box({ color: COLOUR.dim, fontSize: size(26) }, `${took} in all`),
  ]);
}

function layOutImage(src: string, size: (pixels: number) => number): Element {
  const [width, height] = [size(440), size(330)];
  const style = { width, height, objectFit: "contain", borderRadius: size(12) };
  return { type: "img", props: { src, width, height, style } };
}

/** A face whose mouth is as open as the voice is loud, 0 to 4. */
function layOutFace(mouth: number, side: number): Element {
  const part = (share: number) => Math.round(side * share);
  const round = (width: number, height: number, color: string) =>
    box({
      width: part(width),
      height: part(height),
      borderRadius: part(0.5),
      backgroundColor: color,
    }, []);
  return box({
    width: side,
    height: side,
    borderRadius: part(0.5),
    backgroundColor: COLOUR.skin,
    flexDirection: "column",
    alignItems: "center",
    justifyContent: "center",
    gap: part(0.14),
  }, [
    box({ gap: part(0.26) }, [round(0.09, 0.12, COLOUR.dark), round(0.09, 0.12, COLOUR.dark)]),
    box({ height: part(0.26), alignItems: "center" }, [
      round(0.34 - 0.03 * mouth, 0.03 + 0.055 * mouth, mouth > 0 ? "#7f1d1d" : COLOUR.dark),
    ]),
  ]);
}

function layOutProgress(share: number, size: (pixels: number) => number): Element {
  const bar = { height: size(6), borderRadius: size(3) };
  return box({ ...bar, width: "100%", backgroundColor: COLOUR.dark }, [
    box({ ...bar, width: `${Math.round(share * 1000) / 10}%`, backgroundColor: COLOUR.accent }, []),
  ]);
}

function box(
  style: Readonly<Record<string, unknown>>,
  children: string | readonly Element[],
): Element {
  return { type: "div", props: { style: { display: "flex", ...style }, children } };
}
