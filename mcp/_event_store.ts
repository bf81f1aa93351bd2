/** Limits of one session's events; the newest event is kept whatever its size. */
const MAX_EVENTS = 100;
const MAX_CHARACTERS = 256 * 1024;

interface StoredEvent<Message> {
  readonly id: string;
  readonly stream: string;
  readonly message: Message;
  readonly characters: number;
}

/** The latest events of a session, from which a client resumes a broken stream. */
export interface SessionEvents<Message> {
  storeEvent(stream: string, message: Message): Promise<string>;
  /** @returns undefined where the event is unknown */
  getStreamIdForEventId(id: string): Promise<string | undefined>;
  /** Sends the later events of the same stream. @returns the stream */
  replayEventsAfter(
    id: string,
    to: { send(id: string, message: Message): Promise<void> },
  ): Promise<string>;
}

/** Creates an empty store, in memory as the session is. */
export function createEventStore<Message>(): SessionEvents<Message> {
  let events: StoredEvent<Message>[] = [];
  let totalCharacters = 0;
  let count = 0;
  const streamOf = (id: string) => events.find((event) => event.id === id)?.stream;

  return {
    storeEvent(stream, message) {
      const id = `${++count}`;
      const characters = JSON.stringify(message).length;
      events.push({ id, stream, message, characters });
      totalCharacters += characters;
      while (
        events.length > 1 && (events.length > MAX_EVENTS || totalCharacters > MAX_CHARACTERS)
      ) {
        totalCharacters -= events[0]!.characters;
        events = events.slice(1);
      }
      return Promise.resolve(id);
    },
    getStreamIdForEventId: (id) => Promise.resolve(streamOf(id)),
    async replayEventsAfter(id, { send }) {
      const stream = streamOf(id);
      const later = events.slice(events.findIndex((event) => event.id === id) + 1);
      for (const event of later) {
        if (event.stream === stream) await send(event.id, event.message);
      }
      return stream!;
    },
  };
}
