import type { RunId } from "./incidents.ts";
import type { ReasoningResult } from "./reasoning.ts";

/** Argument of a conversation: one caller's with one agent. */
export interface ConversationRequest {
  readonly conversation_id: string;
  readonly agent: string;
  /** Public id of the caller's key. */
  readonly key_id: string;
  /** Seconds without a message after which the run ends. The next message starts another. */
  readonly idle_seconds: number;
  /** Answers after which the run continues as new. */
  readonly max_answers: number;
}

/** A question that is not answered yet. */
export interface Question {
  readonly question_id: string;
  /** From 1. It grows where a run was ended from outside before it could answer. */
  readonly attempt: number;
  /** The message, with what it refers to in earlier ones. */
  readonly prompt: string;
  /** Subjects of earlier messages that it is taken to be about. */
  readonly assumed: readonly string[];
}

/** An agent's answer to a question. */
export interface AgentAnswer extends Omit<ReasoningResult, "outcome" | "steps"> {
  /** `failed`: the run failed; `not_done`, `unknown`: of a message to another organization's agent. */
  readonly outcome: ReasoningResult["outcome"] | "failed" | "not_done" | "unknown";
}

/** A question to an agent of another organization. Its text is in the database, and nothing else leaves the platform. */
export interface PeerRequest extends Pick<ConversationRequest, "conversation_id" | "agent"> {
  readonly question_id: string;
  readonly requested_by: string;
}

/** Outcome of a message to an agent of another organization. */
export interface PeerOutcome {
  /** `not_done`: it provably did not arrive, or was refused; `unknown`: nobody can tell. */
  readonly state: "done" | "not_done" | "unknown";
  /** State of the agent's task, or why there is no reply. */
  readonly code: string;
  /** Text of the agent, with nothing of it checked. */
  readonly text: string;
  /** Task that still runs. */
  readonly taskId?: string;
  /** True: the agent asks back. */
  readonly needsMore?: boolean;
}

/** An answer, and the question that it answers. */
export interface GivenAnswer extends Pick<ConversationRequest, "conversation_id" | "agent"> {
  readonly question: Question;
  readonly answer: AgentAnswer;
  /** Run that has found it. */
  readonly run: RunId;
}
