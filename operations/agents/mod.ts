/** Agents that people talk to: their conversations, and notes on them. @module */
import { agentList } from "./list.ts";
import { agentConversation, sendAgentMessage } from "./messages.ts";
import { addAgentNote, agentNotes } from "./notes.ts";

/** Operations of this folder. */
export const agentOperations = [
  agentList,
  agentConversation,
  sendAgentMessage,
  agentNotes,
  addAgentNote,
];
