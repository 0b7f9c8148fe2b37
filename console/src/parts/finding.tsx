/** Searches a conversation for words or a period. Shows the hits, and how far back the search went. */
import { useEffect, useId, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { change, to, type Find } from '../route.ts';
import { exact } from '../state/clock.ts';
import { useFound, type Found } from '../state/found.ts';
import { client } from '../state/server.ts';
import { visible } from '../state/text.ts';
import { timesIn, typedOf } from '../state/times.ts';
import type { Hit } from '../types.ts';
import { Problem } from './empty.tsx';
import { Icon } from './icons.tsx';
import { Ago, When } from './time.tsx';
import { TimeFields } from './times.tsx';

type Props = {
  readonly log: string;
  readonly conversation: string;
  readonly find: Find | null;
  /** The position of the shown hit. */
  readonly at: number | null;
  readonly onClose: () => void;
};

export function Finding({ log, conversation, find, at, onClose }: Props): ReactElement {
  const [typed, setTyped] = useState(find?.words ?? '');
  const [times, setTimes] = useState(typedOf(find ?? NEVER));
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  const question = find === null ? null : JSON.stringify(find);
  // If the URL changes to other words or times, the fields show the new words and times.
  useEffect(() => {
    const asked = question === null ? null : (JSON.parse(question) as Find);
    setTyped(asked?.words ?? '');
    setTimes(typedOf(asked ?? NEVER));
  }, [question]);
  const found = useFound<Hit>(question, (before, signal) => {
    const { words, from, until } = find ?? { words: '', ...NEVER };
    return client.search(`${log}#${conversation}`, {
      signal,
      ...(words === '' ? {} : { q: words }),
      ...(from === null ? {} : { from }),
      ...(until === null ? {} : { to: until }),
      ...(before === null ? {} : { before }),
    });
  });
  const isTimed = find !== null && (find.from !== null || find.until !== null);
  const isEmpty = typed.trim() === '' && times.from === '' && times.until === '';
  const look = (): void => {
    const asked: Find = { words: typed.trim(), ...timesIn(times, find ?? NEVER) };
    if (JSON.stringify(asked) === question) found.again();
    else change(to.conversation(log, conversation, null, { find: isEmpty ? null : asked }));
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
        <TimeFields value={times} onChange={setTimes} />
        <button type="submit" disabled={isEmpty}>
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
                {isTimed ? <When at={hit.at} /> : <Ago at={hit.at} />}
                <b className="words">{whoSays(hit)}</b>
                <span className="words">
                  <Marked text={hit.text} words={find?.words ?? ''} />
                </span>
              </a>
            </li>
          ))}
        </ol>
      )}
      <p className="finding-far" id={`${id}s`}>
        <span role="status">{find === null ? '' : farSays({ ...found, timed: isTimed })}</span>
        {found.more && (
          <button type="button" className="small" onClick={found.further} aria-busy={found.loading}>
            Look further back
          </button>
        )}
      </p>
    </section>
  );
}

const NEVER = { from: null, until: null } as const;

type Far = Pick<Found<unknown>, 'items' | 'loading' | 'more' | 'lookedBackTo' | 'problem'> & {
  /** Whether the search is limited to a period. */
  readonly timed: boolean;
};

export function farSays({ items, loading, more, lookedBackTo, problem, timed }: Far): string {
  const many = items.length === 0 ? 'Nothing found' : `${items.length} found`;
  if (loading) return items.length === 0 ? 'looking …' : `${many}, looking further …`;
  if (problem !== null) return '';
  if (!more) return `${many} in ${timed ? 'this period' : 'the whole log'}`;
  return `${many}${lookedBackTo === null ? ' so far' : `, looked back to ${exact(lookedBackTo)}`}`;
}

/** Returns the id of the notification whose *Why* panel opens with the hit. */
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

/** Shows a text with the searched words marked. */
export function Marked({ text, words }: { readonly text: string; readonly words: string }): ReactNode {
  const each = words
    .split(/\s+/u)
    .filter(Boolean)
    .map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`));
  if (each.length === 0) return visible(text);
  return text
    .split(new RegExp(`(${each.join('|')})`, 'giu'))
    .map((part, n) => (n % 2 === 1 ? <mark key={n}>{part}</mark> : visible(part)));
}
