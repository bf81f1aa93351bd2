/** Conversations of callers with agents, and notes on agents. Workflows answer; the texts are here. */
export const conversations = `
  CREATE TABLE conversations (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    key_id text NOT NULL,         -- the only key that may read it
    agent_id text NOT NULL,
    messages integer NOT NULL DEFAULT 0,  -- number of the newest one
    created_at timestamptz NOT NULL DEFAULT now(),
    last_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX conversations_caller ON conversations (tenant_id, key_id, agent_id, last_at DESC);
  CREATE INDEX conversations_last ON conversations (tenant_id, last_at);

  CREATE TABLE conversation_messages (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    conversation_id text NOT NULL,
    number integer NOT NULL,      -- from 1, in the order in which they were said
    role text NOT NULL CHECK (role IN ('user', 'agent')),
    text text NOT NULL,
    answers text,                 -- of an agent: the question
    outcome text,                 -- of an agent
    citations json,               -- of an agent
    receipt_id text,              -- of an agent
    attempts integer NOT NULL DEFAULT 0,  -- of a user: how often a run began to answer
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, conversation_id, number),
    UNIQUE (tenant_id, answers),  -- a question is answered once
    FOREIGN KEY (tenant_id, conversation_id) REFERENCES conversations ON DELETE CASCADE
  );

  CREATE TABLE agent_notes (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    agent_id text NOT NULL,
    text text NOT NULL,
    author text NOT NULL,         -- principal of the key, or its id
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX agent_notes_agent ON agent_notes (tenant_id, agent_id, at DESC);
  SELECT wall_off(false, 'conversations', 'conversation_messages', 'agent_notes');
`;
