/** The board: tasks of people and agents. */
export const taskBoard = `
  CREATE TABLE board_tasks (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- TASK- and 12 hex characters
    title text NOT NULL,
    description text NOT NULL,
    status text NOT NULL CHECK (status IN ('todo', 'doing', 'blocked', 'done')),
    assignee text,                -- principal
    agent_id text,                -- instead of a principal
    due_at timestamptz,
    due_told_at timestamptz,      -- when the feed was told that it is due
    ticket_id text,
    version integer NOT NULL DEFAULT 1,
    created_by text NOT NULL,     -- principal
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at timestamptz,       -- the rest of a deleted task stays
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets,
    CHECK (assignee IS NULL OR agent_id IS NULL)
  );
  CREATE INDEX board_tasks_created ON board_tasks (tenant_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX board_tasks_ticket ON board_tasks (tenant_id, ticket_id) WHERE deleted_at IS NULL;
  CREATE INDEX board_tasks_due ON board_tasks (tenant_id, due_at)
    WHERE due_told_at IS NULL AND deleted_at IS NULL AND status <> 'done';
  SELECT wall_off(false, 'board_tasks');
`;
