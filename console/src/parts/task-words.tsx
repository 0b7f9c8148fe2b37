/** The fields for the title and the description of a task. The agent reads both when it takes the task. */
import { useState, type ReactElement } from 'react';
import { messageOf } from '../state/loaded.ts';
import { client } from '../state/server.ts';
import type { TaskPriority, TaskView } from '../types.ts';
import { Problem } from './empty.tsx';

export const PRIORITIES: readonly TaskPriority[] = ['low', 'normal', 'high', 'urgent'];
const MAX_ROWS = 14;

/** The field for a description. Ctrl+Enter submits the form. Enter adds a line. */
export const Description = ({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}): ReactElement => (
  <textarea
    aria-label="Description"
    placeholder="Describe the work. The agent reads this text."
    rows={Math.min(MAX_ROWS, Math.max(3, value.split('\n').length))}
    value={value}
    onChange={(event) => onChange(event.target.value)}
    onKeyDown={(event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      event.currentTarget.form?.requestSubmit();
    }}
  />
);

export const Priority = ({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: TaskPriority;
  readonly onChange: (value: TaskPriority) => void;
}): ReactElement => (
  <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value as TaskPriority)}>
    {PRIORITIES.map((each) => (
      <option key={each} value={each}>
        {each}
      </option>
    ))}
  </select>
);

/** The form that edits a task. If the save fails, the typed text stays. A second save then replaces the changes of others. */
export function EditTask({ task, onDone }: { readonly task: TaskView; readonly onDone: () => void }): ReactElement {
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description);
  const [priority, setPriority] = useState(task.priority);
  const [seen, setSeen] = useState(task.version);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const works = task.execution !== null && task.execution.endedAt === null && task.execution.conversation !== null;
  const save = async (): Promise<void> => {
    setBusy(true);
    const { id, project } = task;
    try {
      await client.editTask(id, { title: title.trim(), description, priority, expected: seen }, { project });
      onDone();
    } catch (error) {
      setProblem(messageOf(error));
      // The next save expects the newest version, so it replaces the changes of others.
      await client.task(id, { project }).then(
        ({ version }) => setSeen(version),
        () => undefined,
      );
    }
    setBusy(false);
  };
  return (
    <form
      className="edit-task"
      aria-label={`Edit ${task.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (title.trim() !== '' && !busy) void save();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onDone();
      }}
    >
      <input
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has clicked on Edit
        autoFocus
        aria-label="Title"
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <Description value={description} onChange={setDescription} />
      {works && <p className="muted">{`${task.execution.agent} has read the earlier text. Tell the agent about your change.`}</p>}
      <div className="edit-task-row">
        <Priority label="Priority" value={priority} onChange={setPriority} />
        <button type="submit" className="primary small" aria-busy={busy} disabled={title.trim() === ''}>
          {busy ? 'pending …' : 'Save'}
        </button>
        <button type="button" className="quiet small" onClick={onDone}>
          Leave the task unchanged
        </button>
      </div>
      {problem !== null && <Problem text={problem} />}
    </form>
  );
}
