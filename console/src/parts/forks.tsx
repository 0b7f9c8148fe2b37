/** Shows a conversation's origin and forks as links, and the command that makes another fork. */
import { useEffect, useMemo, useState, type ReactElement } from 'react';
import { to } from '../route.ts';
import { listen } from '../state/live.ts';
import { useLoaded } from '../state/loaded.ts';
import { as } from '../state/notes.ts';
import { client } from '../state/server.ts';
import { word } from '../state/text.ts';
import type { Fork, ForksReply } from '../types.ts';
import { Command } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Problem } from './empty.tsx';
import { Ago } from './time.tsx';

export const FORK_IS =
  'A fork is a new conversation that begins with a copy of this conversation, up to now or up to a turn. Open notifications are then open in both conversations. This conversation continues as before.';

/** Returns the forks that the server lists, and forks that are made while the page is open. */
export function useForks(log: string, conversation: string): ForksReply | undefined {
  const address = `${log}#${conversation}`;
  const { value, again } = useLoaded(address, (signal) => client.forks(address, { signal }));
  const [streamed, setStreamed] = useState<readonly Fork[]>([]);
  useEffect(() => {
    setStreamed([]);
    return listen((records) => {
      const made = records.flatMap(({ log: of, at, body }) => {
        const forked = of === log ? as(body, 'conversation_forked') : undefined;
        return forked === undefined ? [] : [{ ...forked, at }];
      });
      const mine = made.filter(({ from }) => from === conversation);
      if (mine.length > 0)
        setStreamed((were) => [
          ...were,
          ...mine.map(({ conversation: name, upTo, at }) => ({ conversation: name ?? '', upTo, at })),
        ]);
      if (made.some(({ conversation: name }) => name === conversation)) again();
    });
  }, [log, conversation, again]);
  return useMemo(() => {
    if (value === undefined) return undefined;
    const all = new Map([...value.forks, ...streamed].map((fork) => [fork.conversation, fork]));
    return { ...value, forks: [...all.values()].toSorted((a, b) => b.at - a.at) };
  }, [value, streamed]);
}

/** Shows the origin of a fork, in the head of the conversation. */
export const Origin = ({ log, forks }: { readonly log: string; readonly forks: ForksReply }): ReactElement | null =>
  forks.origin === null ? null : (
    <span>
      {'forked from '}
      <a className="words" href={to.conversation(log, forks.origin.conversation, null, { at: forks.origin.upTo })}>
        {`#${forks.origin.conversation}`}
      </a>
    </span>
  );

/** The dialog for a new fork. `at` is the position of a record of the last turn to fork; null forks the whole conversation. */
export function ForkDialog({
  log,
  conversation,
  at,
  ours,
  forks,
  onClose,
}: {
  readonly log: string;
  readonly conversation: string;
  readonly at: number | null;
  /** Whether Earpiece's own agent runs the conversation. */
  readonly ours: boolean;
  readonly forks: ForksReply | undefined;
  readonly onClose: () => void;
}): ReactElement {
  const label = at === null ? `Fork #${conversation}` : 'Fork after this turn';
  return (
    <Dialog label={label} className="fork" onClose={onClose}>
      <h2 className="words">{label}</h2>
      <p>{FORK_IS}</p>
      {!ours ? (
        <p>This conversation does not belong to Earpiece’s own agent. earpiece chat can fork only conversations of that agent.</p>
      ) : at === null ? (
        <>
          <p>To continue the fork in a terminal:</p>
          <Command text={`earpiece chat --as ${word(log)} --fork ${word(conversation)}`} />
        </>
      ) : (
        <UpTo {...{ log, conversation, at }} />
      )}
      {forks !== undefined && (forks.origin !== null || forks.forks.length > 0) && (
        <Known log={log} forks={forks} onClose={onClose} />
      )}
      <button type="button" onClick={onClose}>
        Close
      </button>
    </Dialog>
  );
}

function UpTo({
  log,
  conversation,
  at,
}: {
  readonly log: string;
  readonly conversation: string;
  readonly at: number;
}): ReactElement {
  const address = `${log}#${conversation}`;
  const { value, problem, again } = useLoaded(`${address} ${at}`, (signal) => client.forks(address, { at, signal }));
  const turns = value?.turns ?? null;
  if (problem !== null) return <Problem text={problem} again={again} />;
  if (turns === null) return <p role="status">counting the turns …</p>;
  if (turns === 0) return <p>No turn had begun here, so there is nothing to fork.</p>;
  return (
    <>
      <p>{`The fork is a copy up to turn ${turns}. To continue the fork in a terminal:`}</p>
      <Command text={`earpiece chat --as ${word(log)} --fork ${word(conversation)} --turns ${turns}`} />
    </>
  );
}

function Known({
  log,
  forks: { origin, forks, more },
  onClose,
}: {
  readonly log: string;
  readonly forks: ForksReply;
  readonly onClose: () => void;
}): ReactElement {
  return (
    <>
      {origin !== null && (
        <p>
          {'This conversation was forked from '}
          <a
            className="words"
            href={to.conversation(log, origin.conversation, null, { at: origin.upTo })}
            onClick={onClose}
          >{`#${origin.conversation}`}</a>
          {'.'}
        </p>
      )}
      {forks.length > 0 && (
        <section aria-label="Forks of this conversation">
          <h3>{`Forks of this conversation · ${forks.length}${more ? ' or more' : ''}`}</h3>
          <ul className="forks">
            {forks.map((fork) => (
              <li key={fork.conversation}>
                <a className="words" href={to.conversation(log, fork.conversation)} onClick={onClose}>
                  {`#${fork.conversation}`}
                </a>{' '}
                <span className="muted">
                  <Ago at={fork.at} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
