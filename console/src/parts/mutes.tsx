/** The button that mutes a kind, on a card and in *Why*, and the list of mutes, each with a button that lifts it. */
import { useId, useState, type ReactElement } from 'react';
import { serverNow, useNow, whenSays } from '../state/clock.ts';
import { messageOf } from '../state/loaded.ts';
import { useMutes } from '../state/mutes.ts';
import { useOwnAgent } from '../state/rights.ts';
import { client } from '../state/server.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';

const HOW_LONG = [
  { says: 'for 1 hour', until: () => serverNow() + 3_600_000 },
  { says: 'today', until: () => new Date(serverNow()).setHours(24, 0, 0, 0) },
  { says: 'for ever', until: () => null },
] as const;

/** A button that asks for the kind and the duration of a mute, and names its effect. */
export function MuteButton({ log, kind }: { readonly log: string; readonly kind: string }): ReactElement | null {
  const [open, setOpen] = useState(false);
  if (useOwnAgent() !== null) return null;
  return (
    <>
      <button type="button" className="quiet small mute-button" aria-label={`Mute ${kind}`} onClick={() => setOpen(true)}>
        Mute
      </button>
      {open && <MuteDialog log={log} kind={kind} onClose={() => setOpen(false)} />}
    </>
  );
}

function MuteDialog({
  log,
  kind,
  onClose,
}: {
  readonly log: string;
  readonly kind: string;
  readonly onClose: () => void;
}): ReactElement {
  const name = useId();
  const source = kind.slice(0, kind.indexOf('.'));
  const [pattern, setPattern] = useState(kind);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const mute = (until: number | null): void => {
    if (busy) return;
    setBusy(true);
    client.mute(log, pattern, { until }).then(onClose, (error: unknown) => {
      setProblem(messageOf(error));
      setBusy(false);
    });
  };
  return (
    <Dialog label={`Mute for ${log}`} className="mute-dialog" onClose={onClose}>
      <h2 className="words">{`Mute for ${log}`}</h2>
      <fieldset>
        <legend>What</legend>
        {[
          { value: kind, says: `only ${kind}` },
          { value: `${source}.*`, says: `everything from ${source}` },
        ].map(({ value, says }) => (
          <label key={value} className="inline words">
            <input type="radio" name={name} checked={pattern === value} onChange={() => setPattern(value)} />
            {says}
          </label>
        ))}
      </fieldset>
      <p className="muted">
        The agent does not get muted notifications. Each muted notification is closed as filtered, and you can queue it again. A
        mute never stops cancel, pause and resume, or critical notifications of persons and of the core.
      </p>
      <div className="mute-times">
        {HOW_LONG.map(({ says, until }) => (
          <button key={says} type="button" aria-busy={busy} onClick={() => mute(until())}>
            {`Mute ${says}`}
          </button>
        ))}
        <button type="button" className="quiet" onClick={onClose}>
          Cancel
        </button>
      </div>
      {problem !== null && (
        <p className="bad words" role="alert">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

/** Shows the list of mutes, or nothing if there is no mute. */
export function Muted({
  of,
  named = false,
}: {
  readonly of: { readonly log: string } | { readonly project: string };
  /** Whether to show the agent of each mute. */
  readonly named?: boolean;
}): ReactElement | null {
  const { value = [], again } = useMutes(of);
  const own = useOwnAgent();
  const [problem, setProblem] = useState<string | null>(null);
  const now = useNow();
  const held = value.filter(({ until }) => until === null || until > now);
  if (held.length === 0) return null;
  const lift = (log: string, pattern: string): void => {
    client
      .unmute(log, pattern)
      .then(
        () => setProblem(null),
        (error: unknown) => setProblem(messageOf(error)),
      )
      .finally(again);
  };
  return (
    <ul className="muted-kinds" aria-label="Muted">
      {held.map(({ log, pattern, until, by }) => (
        <li key={`${log} ${pattern}`}>
          <Icon name="bell" />
          <span className="words">
            <b>{pattern === '*' ? 'everything' : pattern}</b>
            {` is muted${named ? ` for ${log}` : ''} ${until === null ? 'until a person lifts the mute' : `until ${whenSays(until, now)}`}, by ${by}`}
          </span>
          {own === null && (
            <button
              type="button"
              className="small"
              aria-label={`Lift the mute of ${pattern} for ${log}`}
              onClick={() => lift(log, pattern)}
            >
              Lift
            </button>
          )}
        </li>
      ))}
      {problem !== null && (
        <li className="bad words" role="alert">
          {problem}
        </li>
      )}
    </ul>
  );
}
