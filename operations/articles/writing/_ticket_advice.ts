import type { ArticleBlock, ArticleSection } from "../../../contract/domain/mod.ts";
import { type FactBook, paragraph, section, sentence } from "./_facts.ts";
import { entries, readPassage } from "./_passage.ts";
import type { TicketFacts } from "./_ticket_facts.ts";

const MAX_ENTRIES = 3;

/** Tells readers how to recognise and mend the same fault, from the knowledge base. */
export function describeAdvice(
  { passage }: TicketFacts,
  book: FactBook,
): ArticleSection | undefined {
  if (!passage) return undefined;
  const { causes, checks, fixes, escalate } = readPassage(passage);
  const from = `knowledge ${passage.id}`;
  const say = (text: string) =>
    paragraph([sentence(text, book.add(from, `${passage.title}: ${text}`, true))]);
  const listed = (texts: readonly string[]): ArticleBlock => ({
    kind: "list",
    sentences: entries(book, passage.id, texts.slice(0, MAX_ENTRIES)),
  });
  return section(
    "If it happens to you",
    say(`The nearest article of the knowledge base is “${passage.title}”. Its usual causes:`),
    listed(causes),
    say("Look at these first:"),
    listed(checks),
    say("Then these help:"),
    listed(fixes),
    ...escalate
      ? [
        paragraph([
          sentence(
            `Call for help in this case: ${escalate}`,
            book.add(from, escalate, true),
          ),
        ]),
      ]
      : [],
  );
}
