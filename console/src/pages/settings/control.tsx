/** One setting that a person changes: its control, its effect, the place that sets it, and the result of the change. */
import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { messageOf } from '../../state/loaded.ts';
import type { SettingReply, SettingScope } from '../../types.ts';
import { Input, type Value } from './input.tsx';
import { Breakable } from './table.tsx';

/** Saves values by key. The value null removes the key from the file. Rejects with the reason for a refusal. */
export type Save = (changes: Readonly<Record<string, Value | null>>) => Promise<void>;

export type ControlProps = {
  readonly setting: SettingReply;
  readonly scope: SettingScope;
  readonly save: Save;
  readonly onScope: (scope: SettingScope) => void;
};

type Said = { readonly kind: 'saved' | 'problem' | 'pending'; readonly text: string };

export function Control({ setting, scope, save, onScope }: ControlProps): ReactElement | null {
  const id = useId();
  const [said, setSaid] = useState<Said | null>(null);
  // A message is about one file, so it disappears when the other file is chosen.
  useEffect(() => setSaid(null), [scope]);
  const { change, key } = setting;
  if (change === null) return null;
  const { decidedBy, set } = change.in[scope];
  const busy = said?.kind === 'pending';
  // The pressed button disappears, so the focus must move.
  const toControl = (): unknown => requestAnimationFrame(() => document.getElementById(`${id}c`)?.focus());
  // A value that is entered during a save is saved afterwards, so only the result of the newest save is shown.
  const newest = useRef(0);
  const apply = async (value: Value | null): Promise<boolean> => {
    const mine = ++newest.current;
    const tell = (what: Said): void => {
      if (mine === newest.current) setSaid(what);
    };
    tell({ kind: 'pending', text: 'pending …' });
    try {
      await save({ [key]: value });
    } catch (error) {
      tell({ kind: 'problem', text: messageOf(error) });
      return false;
    }
    tell({ kind: 'saved', text: `${value === null ? 'removed' : 'saved'}: takes effect ${change.takesEffect}` });
    if (value === null) toControl();
    return true;
  };
  const wiring = {
    id: `${id}c`,
    describedBy: `${id}h ${id}d`,
    locked: decidedBy !== null,
    busy,
    wrong: said?.kind === 'problem',
    apply,
  };
  return (
    <div className={`row setting setting-${change.form.kind}`} data-row="" tabIndex={-1} data-setting={key}>
      <div className="setting-name">
        <label htmlFor={`${id}c`} className="words">
          {change.label}
        </label>
        <code className="muted">
          <Breakable text={key} />
        </code>
        <p id={`${id}h`} className="words">
          {change.help}
        </p>
      </div>
      <div className="setting-control">
        <Input key={scope} setting={setting} change={change} scope={scope} {...wiring} />
      </div>
      <p id={`${id}d`} className="setting-by words">
        {decidedBy === null
          ? `decided by ${setting.decidedBy}`
          : `decided by ${setting.decidedBy}, which has higher priority: ${WAY_OUT(decidedBy, scope)}`}
        {setting.overridden.map((one) => ` · instead of ${one.text} (${one.decidedBy})`)}
        {!change.takesEffect.startsWith('now') && ` · a change takes effect ${change.takesEffect}`}
      </p>
      <div className="setting-deeds">
        {decidedBy?.startsWith('project file') && scope === 'user' && (
          <button
            type="button"
            className="small"
            onClick={() => {
              onScope('project');
              toControl();
            }}
          >
            Change this setting in the project file
          </button>
        )}
        {set && (
          <button type="button" className="quiet small" aria-label={`Remove ${change.label}`} onClick={() => void apply(null)}>
            Remove
          </button>
        )}
      </div>
      <p className={`row-said words ${said?.kind === 'problem' ? 'bad' : ''}`} role="status">
        {said?.text}
      </p>
    </div>
  );
}

const WAY_OUT = (decidedBy: string, scope: SettingScope): string =>
  decidedBy.startsWith('project file') && scope === 'user' ? 'change that file' : 'the server was started with this value';
