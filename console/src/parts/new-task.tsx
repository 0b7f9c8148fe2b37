/** The form for a new task, and the field for the agent of a task. The form keeps the typed text when the person leaves the page. */
import { useEffect, useState, type ReactElement } from 'react';
import { useAgents } from '../state/agents.ts';
import { messageOf } from '../state/loaded.ts';
import { draftOf, keepDraft } from '../state/said.ts';
import { client } from '../state/server.ts';
import type { TaskPriority, TaskView } from '../types.ts';
import { Problem } from './empty.tsx';
import { Description, Priority } from './task-words.tsx';

const NOBODY = '';

export function NewTask({ project, onMade }: { readonly project: string; readonly onMade: () => void }): ReactElement {
  const place = `new task of ${project}`;
  const [title, setTitle] = useState(() => draftOf(place));
  const [description, setDescription] = useState(() => draftOf(`${place}, description`));
  const [assignee, setAssignee] = useState(NOBODY);
  const [priority, setPriority] = useState<TaskPriority>('normal');
  useEffect(() => keepDraft(place, title), [place, title]);
  useEffect(() => keepDraft(`${place}, description`, description), [place, description]);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const names = useAgentNames(project, null);
  const make = (): void => {
    if (busy) return;
    setBusy(true);
    client
      .createTask({ project, title: title.trim(), description, priority, ...(assignee === NOBODY ? {} : { assignee }) })
      .then(
        () => {
          // A text that was typed during the save belongs to the next task.
          setTitle((now) => (now === title ? '' : now));
          setDescription((now) => (now === description ? '' : now));
          setProblem(null);
          onMade();
        },
        (error: unknown) => setProblem(messageOf(error)),
      )
      .finally(() => setBusy(false));
  };
  return (
    <form
      className="new-task"
      aria-label="New task"
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== '') make();
      }}
    >
      <input
        aria-label="Title"
        placeholder={`Something to do in ${project} …`}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <select aria-label="For" value={assignee} onChange={(event) => setAssignee(event.target.value)}>
        <option value={NOBODY}>nobody yet</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <Priority label="Priority" value={priority} onChange={setPriority} />
      {(title !== '' || description !== '') && <Description value={description} onChange={setDescription} />}
      <button type="submit" disabled={busy || title.trim() === ''}>
        Create task
      </button>
      {problem !== null && <Problem text={problem} />}
    </form>
  );
}

function useAgentNames(project: string, also: string | null): readonly string[] {
  const { items } = useAgents();
  return [
    ...new Set([
      ...items.filter((agent) => agent.project === project).map(({ agent }) => agent),
      ...(also === null ? [] : [also]),
    ]),
  ].toSorted();
}

/** The agent of a task. The field is only text if nobody may change the assignee. */
export function Assignee({
  task,
  fixed,
  busy,
  onAssign,
}: {
  readonly task: TaskView;
  readonly fixed: boolean;
  readonly busy: boolean;
  readonly onAssign: (assignee: string | null) => void;
}): ReactElement {
  const names = useAgentNames(task.project, task.assignee);
  if (fixed) return <span className="muted words">{task.assignee ?? 'nobody'}</span>;
  return (
    <select
      aria-label={`Assignee of ${task.id}`}
      value={task.assignee ?? NOBODY}
      aria-busy={busy}
      onChange={(event) => onAssign(event.target.value === NOBODY ? null : event.target.value)}
    >
      <option value={NOBODY}>nobody</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
