/** Shows the cards of delivered, waiting and ended notifications in a conversation. */
import type { ReactElement, ReactNode } from 'react';
import { byWhom, type Verdict } from '../../../src/wire/client/index.ts';
import { exact, lasting, span, useNow } from '../state/clock.ts';
import { waitsSays, type AgentHolds } from '../state/waits.ts';
import type { Force } from '../types.ts';
import type { Note } from '../state/notes.ts';
import type { Said } from '../state/said.ts';
import { mayMute, type Mutable } from '../state/mutes.ts';
import { deedSays, forget, tryAgain } from '../state/said.ts';
import { bodyOf } from '../state/text.ts';
import { useRoute } from '../route.ts';
import type { Entry, On, Rider } from '../state/timeline.ts';
import { receiptSays, senderSays } from '../words.ts';
import { Icon, LevelShape } from './icons.tsx';
import { MuteButton } from './mutes.tsx';
import { Folded, SentText } from './said.tsx';
import { Clock } from './time.tsx';

type WhyProps = { readonly id: string; readonly kind: string; readonly open: boolean; readonly onWhy: (id: string) => void };

const Why = ({ id, kind, open, onWhy }: WhyProps): ReactElement => (
  <button
    type="button"
    className="quiet small why-button"
    aria-pressed={open}
    aria-label={`Why ${kind}`}
    onClick={() => onWhy(id)}
  >
    Why
  </button>
);

/** The buttons of a card: show why, and mute its kind if a mute can stop it. */
function Buttons({ of, ...props }: Omit<WhyProps, 'kind'> & { readonly of: Mutable }): ReactElement {
  const route = useRoute();
  return (
    <span className="buttons">
      {route.kind === 'conversation' && mayMute(of) && <MuteButton log={route.log} kind={of.kind} />}
      <Why kind={of.kind} {...props} />
    </span>
  );
}

/** The quoted reason or instruction of a notification. */
const Instruction = ({ text }: { readonly text: string | null }): ReactElement | null =>
  text === null ? null : (
    <div className="note-instruction">
      <Folded text={`“${text}”`} />
    </div>
  );

type RideEntry = Extract<Entry, { kind: 'ride' }>;

export function Ride({
  entry,
  why,
  onWhy,
}: {
  readonly entry: RideEntry;
  readonly why: string | null;
  readonly onWhy: (id: string) => void;
}): ReactElement {
  return (
    <>
      {entry.riders.map((rider) => (
        <Rode key={rider.id} rider={rider} entry={entry} open={why !== null && rider.ids.includes(why)} onWhy={onWhy} />
      ))}
      {entry.summarized.length > 0 && (
        <p className="mark">
          {entry.summarized.length === 1
            ? 'a summary line counts 1 more notification, because the message had no room for its text'
            : `a summary line counts ${entry.summarized.length} more notifications, because the message had no room for their texts`}
        </p>
      )}
    </>
  );
}

function Rode({
  rider,
  entry,
  open,
  onWhy,
}: {
  readonly rider: Rider;
  readonly entry: RideEntry;
  readonly open: boolean;
  readonly onWhy: (id: string) => void;
}): ReactElement {
  const said = rider.person !== null && rider.action === null && rider.kind === 'user.message';
  const waited = rider.queuedAt === null ? null : entry.at - rider.queuedAt;
  const text = rider.text === null ? rider.message : bodyOf(rider.text, rider.format);
  return (
    <article
      className={`note rode level-${rider.level} ${said ? 'said' : ''}`}
      data-note={rider.id}
      data-entry={`${entry.seq} ${rider.id}`}
      data-state="rode"
      data-row=""
      tabIndex={-1}
      aria-label={`${said ? 'message' : 'notification'} ${senderSays(rider)}: ${rider.kind}, ${rider.level}`}
    >
      <NoteHead level={rider.level} kind={rider.kind} count={rider.count} from={senderSays(rider)} at={entry.at} />
      <div className="note-body">
        {/* The line breaks of a template are kept. */}
        <SentText keep={rider.id} text={text} pre={rider.templated && text.includes('\n')} />
        {rider.text === null && <Instruction text={rider.instruction} />}
      </div>
      <footer>
        <span>
          <DeliveredOn on={entry.on} />
          {waited !== null && (
            <span title={`queued ${exact(rider.queuedAt ?? 0)}`}>{` · ${span(waited)} after it was queued`}</span>
          )}
          {rider.ids.length > 1 && ` · ${rider.ids.length} notifications in one`}
          {rider.repeated && ' · repeated'}
          {(rider.receipt === 'observed' || rider.receipt === 'read') && ` · ${receiptSays(rider.receipt, rider.markedBy)}`}
        </span>
        <Buttons id={rider.id} of={rider} open={open} onWhy={onWhy} />
      </footer>
    </article>
  );
}

/** Names the carrier of a delivery. The answer to a refused call is a carrier too. */
function DeliveredOn({ on }: { readonly on: On }): ReactElement {
  const gate = on.kind === 'gate';
  return (
    <>
      {!gate ? 'delivered with ' : on.made ? 'delivered in place of the result of ' : 'delivered in place of a call of '}
      <Icon name={gate || on.kind === 'tool' || on.kind === 'pulled' ? 'tool' : 'send'} />
      <b>{'name' in on ? on.name : CARRIERS[on.kind]}</b>
      {gate && (on.made ? ', which was withheld' : ', which was refused')}
    </>
  );
}

const CARRIERS = { person: 'a message', system: 'a separate message', pulled: 'get_notifications' } as const;

function NoteHead({
  level,
  kind,
  count,
  from,
  at,
}: {
  readonly level: Note['level'];
  readonly kind: string;
  readonly count: number;
  readonly from: string;
  /** The time of the delivery. Missing for a waiting notification, whose footer shows how long it has waited. */
  readonly at?: number;
}): ReactElement {
  return (
    <header>
      <LevelShape level={level} silent />
      <span className="level-word">{level}</span>
      <span className="kind">{kind}</span>
      {kind.startsWith('test.') && <span className="badge test">test</span>}
      <span className="from">{from}</span>
      {count > 1 && <span className="times" aria-label={`${count} times`}>{`${count}×`}</span>}
      {at !== undefined && <Clock at={at} />}
    </header>
  );
}

export function Staged({
  note,
  agent,
  force,
  verdict,
  open,
  onWhy,
}: {
  readonly note: Note;
  /** The reason why the agent cannot read now; null if there is none. */
  readonly agent: AgentHolds;
  /** The effect of an interrupt at the host of the conversation. */
  readonly force: Force;
  /** The server's verdict on a waiting notification, if the page has asked for it. */
  readonly verdict: Verdict | undefined;
  readonly open: boolean;
  readonly onWhy: (id: string) => void;
}): ReactElement {
  const now = useNow();
  return (
    <article
      className={`note staged level-${note.level}`}
      data-note={note.id}
      data-entry={`waits ${note.id}`}
      data-state="staged"
      data-row=""
      tabIndex={-1}
      aria-label={`waiting for delivery: ${note.kind}, ${note.level}`}
    >
      <NoteHead level={note.level} kind={note.kind} count={note.count} from={senderSays(note)} />
      <div className="note-body">
        <Folded keep={note.id} text={note.message} />
        <Instruction text={note.instruction} />
      </div>
      <footer>
        <span>
          {note.state === 'offered' ? 'offered, not confirmed yet' : waitsSays(note, { agent, force, verdict, now })}
          <span title={`queued ${exact(note.at)}`}>{` · ${lasting(now - note.at)}`}</span>
          {note.receipt === 'offered' && note.state === 'open' && ' · offered before, not confirmed'}
          {note.conversation === null && ' · for any conversation of this agent'}
        </span>
        <Buttons id={note.id} of={note} open={open} onWhy={onWhy} />
      </footer>
    </article>
  );
}

/** Shows an action of this page that is not yet in the log. */
export function Pending({ said }: { readonly said: Said }): ReactElement {
  const { what, text } = deedSays(said.deed);
  return (
    <article
      className={`note staged pending ${said.state}`}
      data-note={said.id}
      data-state="pending"
      data-row=""
      tabIndex={-1}
      aria-label={`${what}, ${STATES[said.state]}`}
    >
      <header>
        <span className="kind">{what}</span>
        <span className="from" role="status">
          {STATES[said.state]}
        </span>
      </header>
      <div className="note-body">
        <Folded text={text} />
      </div>
      {said.state === 'failed' && (
        <footer>
          <span className="failed-why words">{said.problem}</span>
          <span className="buttons">
            {said.retryable && (
              <button type="button" className="small" onClick={() => tryAgain(said.id)}>
                Try again
              </button>
            )}
            <button type="button" className="quiet small" onClick={() => forget(said.id)}>
              Discard
            </button>
          </span>
        </footer>
      )}
    </article>
  );
}

const STATES = { sending: 'sending', accepted: 'accepted, not in the log yet', failed: 'not sent' } as const;

type EndedEntry = Extract<Entry, { kind: 'ended' }>;

export function Ended({
  entry,
  why,
  onWhy,
}: {
  readonly entry: EndedEntry;
  readonly why: string | null;
  readonly onWhy: (id: string) => void;
}): ReactNode {
  const [first] = entry.ids;
  const [note] = entry.notes;
  if (first === undefined) return null;
  return (
    <article
      className="note ended"
      data-note={first}
      data-entry={`${entry.seq} ${first}`}
      data-state="ended"
      data-row=""
      tabIndex={-1}
      aria-label={`${entry.outcome}: ${note?.kind ?? first}`}
    >
      <header>
        {note && <LevelShape level={note.level} silent />}
        <span className="kind">{note?.kind ?? first}</span>
        {entry.ids.length > 1 && <span className="from">{`and ${entry.ids.length - 1} more`}</span>}
        <span className="outcome">{entry.outcome}</span>
        <Clock at={entry.at} />
      </header>
      <footer>
        <span className="words">{endedSays(entry)}</span>
        <Why id={first} kind={note?.kind ?? 'it ended'} open={why === first} onWhy={onWhy} />
      </footer>
    </article>
  );
}

/** Says why a notification ended. If the plan or the sweep closed the notification, only the reason is shown. */
const endedSays = ({ by, reason }: EndedEntry): string =>
  /^(?:filter|supersede|relevance|expiry|budget|sweep)$/u.test(by) ? reason : `${byWhom(by)}: ${reason}`;
