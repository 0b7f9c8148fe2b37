/** Words in a conversation: where they stand, in all of it, and how far back that was looked for. */
import { useEffect, useId, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { change, to } from '../route.ts';
import { exact } from '../state/clock.ts';
import { useFound, type Found } from '../state/found.ts';
import { client } from '../state/server.ts';
import type { Hit } from '../types.ts';
import { Problem } from './empty.tsx';
import { Icon } from './icons.tsx';
import { Ago } from './time.tsx';

type Props = {
  readonly log: string;
  readonly conversation: string;
  readonly find: string | null;
  /** The hit that is shown. */
  readonly at: number | null;
  readonly onClose: () => void;
};

export function Finding({ log, conversation, find, at, onClose }: Props): ReactElement {
  const [typed, setTyped] = useState(find ?? '');
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => setTyped(find ?? ''), [find]);
  const found = useFound<Hit>(find, (q, before, signal) =>
    client.search(`${log}#${conversation}`, { q, signal, ...(before === null ? {} : { before }) }),
  );
  const look = (): void => {
    const words = typed.trim();
    if (words === find) found.again();
    else change(to.conversation(log, conversation, null, { find: words === '' ? null : words }));
  };
  return (
    <section className="finding" aria-label="Search this conversation">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          look();
        }}
      >
        <input
          ref={box}
          type="search"
          aria-label="Words to find in the whole conversation"
          aria-describedby={`${id}s`}
          placeholder="Words, then Enter"
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <button type="submit" disabled={typed.trim() === ''}>
          Search
        </button>
        <button type="button" className="quiet" aria-label="Close the search" onClick={onClose}>
          <Icon name="close" />
        </button>
      </form>
      {found.problem !== null && <Problem text={found.problem} again={found.again} />}
      {found.items.length > 0 && (
        <ol className="hits" aria-label="Found">
          {found.items.map((hit) => (
            <li key={hit.seq}>
              <a
                href={to.conversation(log, conversation, noteOf(hit), { find, at: hit.seq })}
                aria-current={hit.seq === at ? 'true' : undefined}
              >
                <Ago at={hit.at} />
                <b className="words">{whoSays(hit)}</b>
                <span className="words">
                  <Marked text={hit.text} words={find ?? ''} />
                </span>
              </a>
            </li>
          ))}
        </ol>
      )}
      <p className="finding-far" id={`${id}s`}>
        <span role="status">{find === null ? '' : farSays(found)}</span>
        {found.more && (
          <button type="button" className="small" onClick={found.further} aria-busy={found.loading}>
            Look further back
          </button>
        )}
      </p>
    </section>
  );
}

type Far = Pick<Found<unknown>, 'items' | 'loading' | 'more' | 'lookedBackTo' | 'problem'>;

export function farSays({ items, loading, more, lookedBackTo, problem }: Far): string {
  const many = items.length === 0 ? 'Nothing found' : `${items.length} found`;
  if (loading) return items.length === 0 ? 'looking …' : `${many}, looking further …`;
  if (problem !== null) return '';
  if (!more) return `${many} in the whole log`;
  return `${many}${lookedBackTo === null ? ' so far' : `, looked back to ${exact(lookedBackTo)}`}`;
}

/** A notification's story opens beside it. */
const noteOf = ({ type, id }: Hit): string | null =>
  type === 'system_notification_queued' || type === 'notification_closed' ? id : null;

function whoSays({ type, name }: Hit): string {
  switch (type) {
    case 'chat_request':
      return name ?? 'you';
    case 'chat_response':
      return 'agent';
    case 'tool_call_response':
      return 'result';
    case 'inquiry_request':
      return 'asks';
    default:
      return name ?? type;
  }
}

/** The words as they stand in it. */
export function Marked({ text, words }: { readonly text: string; readonly words: string }): ReactNode {
  const each = words
    .split(/\s+/u)
    .filter(Boolean)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`));
  if (each.length === 0) return text;
  return text
    .split(new RegExp(`(${each.join('|')})`, 'giu'))
    .map((part, n) => (n % 2 === 1 ? <mark key={n}>{part}</mark> : part));
}
