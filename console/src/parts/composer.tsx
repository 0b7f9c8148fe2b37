/** The box for messages, pause and stop, which is always in view. Each action is shown as pending until the log contains it. */
import { useEffect, useRef, useState, type MouseEvent, type ReactElement } from 'react';
import { isDueAt } from '../../../src/wire/client/index.ts';
import { serverNow } from '../state/clock.ts';
import { useOwnAgent } from '../state/rights.ts';
import { doOnce, draftOf, keepDraft, type Deed } from '../state/said.ts';
import type { ConversationSummary, Deliver, Level } from '../types.ts';
import { effectsSay, LEVELS, MOMENTS, pauseDoes, stopDoes, type Moment } from '../words.ts';
import { Icon } from './icons.tsx';

type Props = { readonly address: string; readonly summary: ConversationSummary | undefined; readonly paused: boolean };
type As = 'message' | 'note';

const IN: readonly { readonly value: string; readonly says: string; readonly ms: number }[] = [
  { value: 'in:600000', says: 'in 10 min', ms: 600_000 },
  { value: 'in:3600000', says: 'in 1 h', ms: 3_600_000 },
];

export function Composer({ address, summary, paused }: Props): ReactElement {
  const [text, setText] = useState(() => draftOf(address));
  const own = useOwnAgent();
  const [chosen, setAs] = useState<As>('message');
  const as = own === null ? chosen : 'note';
  const [kind, setKind] = useState('user.note');
  const [level, setLevel] = useState<Level>('info');
  const [moment, setMoment] = useState('next');
  const [result, setResult] = useState<string | null>(null);
  const interrupting = useRef(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setText(draftOf(address));
    setResult(null);
  }, [address]);

  const write = (value: string): void => {
    setText(value);
    keepDraft(address, value);
  };
  const send = (): void => {
    const content = text.trim();
    if (content === '') return;
    write('');
    setResult(null);
    const deliver = deliverOf(moment);
    const how = { ...(level === 'info' ? {} : { level }), ...(deliver === undefined ? {} : { deliver }) };
    void doOnce(address, as === 'message' ? { kind: 'say', content, ...how } : { kind: 'notify', as: kind, content, ...how });
    area.current?.focus();
  };
  const interrupt = async (action: 'pause' | 'resume' | 'cancel'): Promise<void> => {
    if (interrupting.current) return;
    interrupting.current = true;
    // The typed text is the reason for the action, and not a later message.
    const reason = action === 'resume' ? '' : text.trim();
    const deed: Deed =
      action === 'resume' ? { kind: 'resume' } : { kind: 'interrupt', action, ...(reason === '' ? {} : { reason }) };
    if (reason !== '') write('');
    const name = DEEDS[action];
    setResult(`${name} for ${address}: the server has not answered yet.`);
    const done = await doOnce(address, deed);
    interrupting.current = false;
    const effects = done !== undefined && 'effects' in done ? done.effects : [];
    setResult(
      done === undefined
        ? null
        : 'lifted' in done && done.lifted.length === 0
          ? `No pause of ${address} is active.`
          : `${effectsSay(name, effects)}${reason === '' ? '' : ` The agent also reads your reason: “${reason.length > 200 ? `${reason.slice(0, 200).toWellFormed()}…` : reason}”.`}`,
    );
  };
  return (
    <form
      className="composer"
      aria-label="Say something"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={area}
        id="say"
        aria-label={`Say something to ${address}`}
        placeholder={`Say something to ${address} …`}
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            send();
          }
        }}
      />
      <div className="composer-row">
        <select aria-label="Send as" value={as} onChange={(event) => setAs(event.target.value as As)}>
          {own === null && <option value="message">message</option>}
          <option value="note">note</option>
        </select>
        {as === 'note' && <input aria-label="Kind" value={kind} onChange={(event) => setKind(event.target.value)} size={12} />}
        <select aria-label="When" value={moment} onChange={(event) => setMoment(event.target.value)}>
          {MOMENTS.map(({ value, says }) => (
            <option key={value} value={value}>
              {isMissing(value, summary) ? `${says} (here: next message)` : says}
            </option>
          ))}
          {IN.map(({ value, says }) => (
            <option key={value} value={value}>
              {says}
            </option>
          ))}
        </select>
        <select aria-label="Level" value={level} onChange={(event) => setLevel(event.target.value as Level)}>
          {LEVELS.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <span className="grow" />
        {paused ? (
          <button type="button" data-deed="pause" disabled={own !== null} onClick={once(() => interrupt('resume'))}>
            <Icon name="play" /> Resume
          </button>
        ) : (
          <button
            type="button"
            data-deed="pause"
            title={`Pause: ${pauseDoes(summary)}`}
            disabled={own !== null}
            onClick={once(() => interrupt('pause'))}
          >
            <Icon name="pause" /> Pause
          </button>
        )}
        <Stop
          does={stopDoes(summary)}
          reason={text.trim() !== ''}
          disabled={own !== null}
          onStop={() => void interrupt('cancel')}
        />
        <button type="submit" className="primary" disabled={text.trim() === ''}>
          Send <kbd aria-hidden="true">⏎</kbd>
        </button>
      </div>
      {as === 'note' && <p className="composer-note words">{own === null ? NOTE : onlyNotes(own)}</p>}
      <p
        className="result words"
        role="status"
        data-stop={own === null ? `Stop ${stopDoes(summary)}. ` : ''}
        data-pause={paused || own !== null ? '' : `Pause ${pauseDoes(summary)}.`}
      >
        {result}
      </p>
    </form>
  );
}

const DEEDS = { pause: 'Pause', resume: 'Resume', cancel: 'Stop' } as const;
const NOTE =
  'The agent reads a note as your words, under the kind that you choose. A message always wakes an idle agent. A note wakes an idle agent only if the setting wake.<level> allows this.';
const onlyNotes = (own: string): string =>
  `This browser is logged in with the token of an agent. You can read ${own}, and send notes in the name of this agent. To send messages, to pause or to stop, log in with an admin or project token.`;

/**
 * Ignores the second click of a double click: the log may already contain the action, and then the button has the opposite
 * meaning.
 */
const once =
  (act: () => Promise<void>) =>
  ({ detail }: MouseEvent): void => {
    if (detail < 2) void act();
  };

/** The button Stop, which asks for confirmation, and names the effect at this host in advance. */
function Stop({
  does,
  reason,
  disabled,
  onStop,
}: {
  readonly does: string;
  /** Whether the typed text is sent as the reason. */
  readonly reason: boolean;
  readonly disabled: boolean;
  readonly onStop: () => void;
}): ReactElement {
  const [asked, setAsked] = useState(false);
  const first = useRef<HTMLButtonElement>(null);
  const back = useRef<HTMLButtonElement>(null);
  const before = useRef(asked);
  useEffect(() => {
    if (before.current === asked) return;
    before.current = asked;
    (asked ? first : back).current?.focus();
  }, [asked]);
  if (!asked)
    return (
      <button
        type="button"
        ref={back}
        className="stop"
        data-deed="stop"
        title={`Stop: ${does}`}
        disabled={disabled}
        onClick={() => setAsked(true)}
      >
        <Icon name="stop" /> Stop <span className="stop-does">{does}</span>
      </button>
    );
  return (
    <span
      className="stop-ask"
      role="group"
      aria-label={`Stop: ${does}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setAsked(false);
      }}
    >
      <button
        type="button"
        ref={first}
        className="danger"
        data-deed="stop-yes"
        onClick={() => {
          setAsked(false);
          onStop();
        }}
      >
        {`Stop: ${does}${reason ? ', with your words as the reason' : ''}`}
      </button>
      <button type="button" className="quiet" onClick={() => setAsked(false)}>
        Do not stop
      </button>
    </span>
  );
}

function deliverOf(moment: string): Deliver | undefined {
  const later = IN.find(({ value }) => value === moment);
  if (later !== undefined) return { at: serverNow() + later.ms };
  return moment === 'next' ? undefined : (moment as Deliver);
}

/** Whether the host has no contact point for this moment. The next message to the agent then carries the notification. */
function isMissing(moment: Moment, summary: ConversationSummary | undefined): boolean {
  const points = summary?.points.filter((point) => point !== 'forced') ?? [];
  return moment !== 'next' && moment !== 'now' && points.length > 0 && points.every((point) => isDueAt(moment, point, points));
}
