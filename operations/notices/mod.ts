/** The feed: what the platform tells people, and what they tell each other. @module */
import { messageList } from "./list.ts";
import { sendMessage } from "./send.ts";
import { messageStream } from "./stream.ts";

/** Operations on the feed. */
export const noticeOperations = [messageList, messageStream, sendMessage];
