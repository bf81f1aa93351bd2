import { unknownRecord } from "../../calls/mod.ts";
import { z } from "zod";
import type { Context } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  type ArticleBlock,
  type IncidentPicture,
  MEDIA_LIMITS,
} from "../../contract/domain/mod.ts";
import { isSpeakable, splitSentences } from "../../integrations/media/mod.ts";
import { getArticle } from "../../store/articles/mod.ts";

/** Id of an article. */
export const ArticleId = z.string().regex(
  /^ART-[0-9a-f]{12}$/,
  "Expected ART- and 12 hex characters",
)
  .describe("Id of an article, whose text is then taken");

/** Code of more than a word or two, which nobody can follow by ear. */
const COMMAND = /`[^`]{13,}`/;

/** A section of an article, as it is spoken. */
export interface SpokenSection {
  readonly heading: string;
  readonly text: string;
}

/**
 * Reads an article as text to speak: a section for each heading.
 *
 * @throws {Problem} `NotFound`; `Conflict`: it is not written yet, or is too long
 */
export async function readArticle(
  { store }: Pick<Context, "store">,
  id: string,
): Promise<{
  readonly title: string;
  readonly sections: readonly SpokenSection[];
  /** Of an incident: its picture. */
  readonly incident: IncidentPicture | undefined;
}> {
  const article = await getArticle(store.db, id);
  if (!article) throw await unknownRecord(store.db, "article", id);
  if (!article.content) throw new Problem("Conflict", `${id} is not written yet`);
  const { title } = article.content;
  const sections = article.content.sections.map(({ heading, blocks }) => ({
    heading: heading ?? title,
    text: readAloud(blocks),
  })).filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  const sentences = sections.flatMap(({ text }) => splitSentences(text));
  if (!sentences.every(isSpeakable)) {
    throw new Problem("Conflict", `${id} has sentences that the voice has no sounds for`);
  }
  const length = sections.reduce((sum, { text }) => sum + text.length, 0);
  const { characters, scenes, sentences: maxSentences } = MEDIA_LIMITS;
  if (length > characters || sections.length > scenes || sentences.length > maxSentences) {
    throw new Problem(
      "Conflict",
      `${id} is too long: ${characters} characters and ${maxSentences} sentences in ${scenes} sections are possible`,
    );
  }
  return { title, sections, incident: article.content.incident };
}

/** Returns the sentences of a section. One sentence stands for those of a block that hold commands. */
function readAloud(blocks: readonly ArticleBlock[]): string {
  const texts = blocks.map(({ kind, sentences }) => {
    const spoken = sentences.map(({ text }) => text).filter((text) => !COMMAND.test(text));
    if (spoken.length < sentences.length) spoken.push("The article has the commands.");
    return spoken.join(kind === "paragraph" ? " " : "\n");
  });
  return texts.join("\n").replaceAll("`", "");
}
