/**
 * Shows the waiting notifications, the newest at the end. If there are many, the older notifications are only counted, by level.
 */
import { useState, type ReactElement, type ReactNode } from 'react';
import { to } from '../route.ts';
import type { Note } from '../state/notes.ts';
import type { Force } from '../types.ts';
import { GRAVEST } from '../words.ts';
import { LevelShape } from './icons.tsx';
import { useVerdicts } from '../state/verdicts.ts';
import type { AgentHolds } from '../state/waits.ts';
import { Staged } from './notification.tsx';

const AT_FIRST = 25;
const MORE = 100;

export function Waiting({
  log,
  conversation,
  agent,
  force,
  waiting,
  why,
  onWhy,
  children,
}: {
  readonly log: string;
  readonly conversation: string;
  readonly agent: AgentHolds;
  readonly force: Force;
  readonly waiting: readonly Note[];
  readonly why: string | null;
  readonly onWhy: (id: string) => void;
  readonly children: ReactNode;
}): ReactElement {
  const [limit, setLimit] = useState(AT_FIRST);
  // If at most three notifications exceed the limit, all are shown.
  const folded = waiting.length > limit + 3 ? waiting.slice(0, -limit) : [];
  const shown = waiting.slice(folded.length);
  const verdicts = useVerdicts(
    log,
    conversation,
    shown.filter(({ state }) => state === 'open').map(({ id }) => id),
  );
  const asked = folded.find(({ id }) => id === why);
  return (
    <section className="waiting" aria-label="waiting for delivery">
      <h2>
        <span>{waiting.length > AT_FIRST ? `waiting for delivery · ${waiting.length}` : 'waiting for delivery'}</span>
      </h2>
      {folded.length > 0 && (
        <div className="waiting-more">
          <span>{`${folded.length} earlier notifications:`}</span>
          {GRAVEST.map((level) => {
            const count = folded.filter((note) => note.level === level).length;
            return count === 0 ? null : (
              <a key={level} href={to.notifications({ log, state: 'open', level })} className={`count count-${level}`}>
                <LevelShape level={level} silent />
                {`${count} ${level}`}
              </a>
            );
          })}
          <button type="button" className="small" onClick={() => setLimit(limit + MORE)}>
            {folded.length > MORE ? `Show ${MORE} more` : 'Show all'}
          </button>
        </div>
      )}
      {(asked === undefined ? shown : [asked, ...shown]).map((note) => (
        <Staged
          key={note.id}
          note={note}
          agent={agent}
          force={force}
          verdict={verdicts.get(note.id)}
          open={why === note.id}
          onWhy={onWhy}
        />
      ))}
      {children}
    </section>
  );
}
