/**
 * Social networks of the operator's: Mastodon, where approved posts are published.
 *
 * ```ts
 * const mastodon = openMastodon(config); // undefined: none is set
 * const id = await mastodon.post("Hello", "ACT-5b1e09c77a42");
 * const post = await mastodon.readPost(id, "Hello");
 * ```
 *
 * Doesn't trust: its answers beyond their shape. That a post is there is read from the account's own.
 * @module
 */
export { type MastodonClient, openMastodon } from "./mastodon.ts";
