/** Posts for social networks, by rules: sentences of an article or of the knowledge base, as many as fit. */
import type { IncidentPicture } from "../../../contract/domain/mod.ts";
import { planTimeline } from "../../../ledger/stories/mod.ts";

/** A network, and how it counts. */
interface Network {
  /** Most characters of a post. */
  readonly limit: number;
  /** Characters that a link counts as, however long it is; absent: its own. */
  readonly link?: number;
}

/** Networks that posts are written for. */
export const NETWORKS = {
  x: { limit: 280, link: 23 },
  mastodon: { limit: 500, link: 23 },
  bluesky: { limit: 300 },
  linkedin: { limit: 3_000 },
} as const satisfies Readonly<Record<string, Network>>;

/** Name of a network. */
export type NetworkName = keyof typeof NETWORKS;

/** Most characters of the description of a picture. */
const MAX_ALT = 400;

/** Source of a post. */
export interface PostSource {
  readonly title: string;
  /** Sentences, the most important first. */
  readonly sentences: readonly string[];
  readonly link?: string | undefined;
  /** Of an incident: what its card shows. */
  readonly incident?: IncidentPicture | undefined;
}

/** A post. */
export interface Post {
  readonly text: string;
  /** As the network counts. */
  readonly length: number;
  readonly limit: number;
  /** Description of its picture, a card with the title. */
  readonly alt_text: string;
}

/** Most sentences of a post besides its title: people read no more. */
const MAX_SENTENCES = 5;

/** Writes a post: the title, as many whole sentences as fit, and the link. */
export function writePost(
  network: NetworkName,
  { title, sentences, link, incident }: PostSource,
): Post {
  const plan = incident && planTimeline(incident.timeline);
  const { limit, link: linkLength }: Network = NETWORKS[network];
  const ofLink = link === undefined ? 0 : (linkLength ?? countCharacters(link)) + 2;
  const room = limit - ofLink;
  const parts = [shorten(title, room)];
  for (const sentence of sentences.slice(0, MAX_SENTENCES)) {
    if (countCharacters([...parts, sentence].join("\n\n")) <= room) parts.push(sentence);
  }
  const words = parts.join("\n\n");
  return {
    text: link === undefined ? words : `${words}\n\n${link}`,
    length: countCharacters(words) + ofLink,
    limit,
    alt_text: shorten(`A card with the title: ${title}${plan ? `. ${plan.says}` : ""}`, MAX_ALT),
  };
}

/** Counts the characters of a text as a network does. */
export function countPost(network: NetworkName, text: string): number {
  const { link }: Network = NETWORKS[network];
  return countCharacters(
    link === undefined ? text : text.replace(/https?:\/\/\S+/g, "x".repeat(link)),
  );
}

/** Counts what people see as characters. */
function countCharacters(text: string): number {
  return [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)].length;
}

function shorten(text: string, max: number): string {
  if (countCharacters(text) <= max) return text;
  const cut = text.slice(0, Math.max(0, max - 1));
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1)).trimEnd()}…`;
}
