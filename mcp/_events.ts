/** Most events of a session that are remembered, and most characters of them together, the newest one apart. */
const MOST_EVENTS = 100;
const MOST_CHARACTERS = 256 * 1024;

interface Remembered<Message> {
  readonly id: string;
  readonly stream: string;
  readonly message: Message;
  readonly characters: number;
}

/** What was sent last in a session, so that a client whose stream broke is sent what it missed. */
export interface Events<Message> {
  storeEvent(stream: string, message: Message): Promise<string>;
  /** @returns undefined where the event is forgotten, or never was */
  getStreamIdForEventId(id: string): Promise<string | undefined>;
  /** Sends the later events of the same stream. @returns the stream */
  replayEventsAfter(
    id: string,
    to: { send(id: string, message: Message): Promise<void> },
  ): Promise<string>;
}

/** Starts with none. They are kept in memory, as a session is. */
export function rememberEvents<Message>(): Events<Message> {
  let kept: Remembered<Message>[] = [];
  let characters = 0;
  let count = 0;
  const streamOf = (id: string) => kept.find((event) => event.id === id)?.stream;

  return {
    storeEvent(stream, message) {
      const event = {
        id: `${++count}`,
        stream,
        message,
        characters: JSON.stringify(message).length,
      };
      kept.push(event);
      characters += event.characters;
      while (kept.length > 1 && (kept.length > MOST_EVENTS || characters > MOST_CHARACTERS)) {
        characters -= kept[0]!.characters;
        kept = kept.slice(1);
      }
      return Promise.resolve(event.id);
    },
    getStreamIdForEventId: (id) => Promise.resolve(streamOf(id)),
    async replayEventsAfter(id, { send }) {
      const stream = streamOf(id);
      const later = kept.slice(kept.findIndex((event) => event.id === id) + 1);
      for (const event of later) {
        if (event.stream === stream) await send(event.id, event.message);
      }
      return stream!;
    },
  };
}
