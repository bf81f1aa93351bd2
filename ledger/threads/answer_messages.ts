import { parentPort, type TransferListItem } from "node:worker_threads";

/** A message to a thread. */
export interface ThreadRequest<Message> {
  /** Names the message among those of its thread. */
  readonly id: number;
  readonly message: Message;
}

/** The answer to a message, or why there is none. */
export type ThreadAnswer<Answer> =
  & { readonly id: number }
  & ({ readonly answer: Answer } | { readonly error: string });

/**
 * Answers the messages of the thread that has started this one, each when its answer is there.
 *
 * @param transferOf returns memory of an answer that is handed over instead of copied
 */
export function answerMessages<Message, Answer>(
  answerTo: (message: Message) => Answer | Promise<Answer>,
  transferOf: (answer: Answer) => readonly TransferListItem[] = () => [],
): void {
  const port = parentPort!;
  port.on("message", async ({ id, message }: ThreadRequest<Message>) => {
    try {
      const answer = await answerTo(message);
      port.postMessage({ id, answer } satisfies ThreadAnswer<Answer>, transferOf(answer));
    } catch (error) {
      port.postMessage({ id, error: String(error) } satisfies ThreadAnswer<Answer>);
    }
  });
}
