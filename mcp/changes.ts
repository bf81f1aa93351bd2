/** Who follows the changes of resources in this process. */
export interface Changes {
  readonly followers: number;
  /** Tells of every change, until what it gives is called. */
  onChange(told: (uri: string) => void): () => void;
  /** A resource has changed. */
  changed(uri: string): void;
}

/** Starts with nobody who follows. */
export function openChanges(): Changes {
  const followers = new Set<(uri: string) => void>();
  return {
    get followers() {
      return followers.size;
    },
    onChange(told) {
      const follower = (uri: string) => told(uri); // the same function twice is two who follow
      followers.add(follower);
      return () => followers.delete(follower);
    },
    changed(uri) {
      for (const told of followers) told(uri);
    },
  };
}
