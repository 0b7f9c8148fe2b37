/**
 * The history of one notification: each receipt with its time, the rule, the plan, the carrier, and the exact text that was sent.
 */
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { byWhom, curesOf, isPlanStep, named, sayReason } from '../../../src/wire/client/index.ts';
import type { NotificationId } from '../../../src/core/notification.ts';
import { Copy } from '../parts/copy.tsx';
import { Problem, Skeleton } from '../parts/empty.tsx';
import { Icon, LevelShape } from '../parts/icons.tsx';
import { openedByKey } from '../parts/keys.ts';
import { Folded } from '../parts/said.tsx';
import { queuedAgain, VerdictBox, WITHDRAWN } from '../parts/verdict.tsx';
import { to } from '../route.ts';
import { day, exact, exactTime, localTimes, span } from '../state/clock.ts';
import { listen } from '../state/live.ts';
import { messageOf, useLoaded } from '../state/loaded.ts';
import { useOwnAgent } from '../state/rights.ts';
import { client } from '../state/server.ts';
import { soon } from '../state/soon.ts';
import { visible } from '../state/text.ts';
import type { StoryItem } from '../types.ts';
import { NEXT_CARRIER, producerOf, receiptSays } from '../words.ts';

export function WhyPanel({
  id,
  log,
  calls,
  onClose,
}: {
  readonly id: string;
  readonly log: string | null;
  /** The names of the tools by the ids of their calls, as far as the page knows them. */
  readonly calls: ReadonlyMap<string, string>;
  readonly onClose: () => void;
}): ReactElement {
  const story = useLoaded(`${log} ${id}`, (signal) => client.why(id, log ?? undefined, { signal }));
  const { again } = story;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!openedByKey()) return undefined;
    panel.current?.focus({ preventScroll: true });
    const here = panel.current;
    return () => {
      // If the person has moved the focus elsewhere, the focus stays there.
      if (document.activeElement === document.body || here?.contains(document.activeElement) === true)
        document.querySelector<HTMLElement>(`article[data-note="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
    };
  }, [id, log]);
  useEffect(() => {
    const asking = soon(async () => again(), 100);
    const end = listen((records) => {
      if (
        records.some(
          (record) =>
            (log === null || record.log === log) &&
            /notification|carrier|chat_request|tool_call_response|gate|conversation/u.test(record.body.type),
        )
      )
        asking.ask();
    });
    return () => {
      end();
      asking.end();
    };
  }, [again, log]);
  return (
    <aside className="why" aria-label="Why" ref={panel} tabIndex={-1}>
      <header className="panel-head">
        <button type="button" className="quiet back" onClick={onClose} aria-label="Back to the conversation">
          <Icon name="back" />
        </button>
        <h2>Why</h2>
        <button type="button" className="quiet close" onClick={onClose} aria-label="Close why">
          <Icon name="close" />
        </button>
      </header>
      <div className="panel-body">
        {story.problem !== null && <Problem text={story.problem} again={again} />}
        {story.value === undefined && story.problem === null && <Skeleton rows={5} label="reading the history" />}
        {story.value?.items.map((item) => (
          <Story
            key={item.notification.conversation ?? ''}
            item={item}
            log={story.value?.log ?? ''}
            calls={calls}
            again={again}
          />
        ))}
      </div>
    </aside>
  );
}

function Story({
  item,
  log,
  calls,
  again,
}: {
  readonly item: StoryItem;
  readonly log: string;
  readonly calls: ReadonlyMap<string, string>;
  readonly again: () => void;
}): ReactElement {
  const { notification: n, steps, ended, now, sent } = item;
  const queuedAt = n.at;
  const last = sent.at(-1);
  return (
    <section className="story">
      <VerdictBox item={item} log={log} again={again} />
      <h3>
        <LevelShape level={n.level} silent />
        <span className="words">{`${n.kind} · ${n.level}`}</span>
      </h3>
      <div className="story-message">
        <Folded text={n.message} />
      </div>
      <dl className="facts">
        <Fact name="receipt">
          <b>{receiptSays(n.receipt, n.markedBy)}</b>
          {n.gate && ' · the gate is up because of this notification'}
        </Fact>
        <Fact name="rule">
          {n.subscriber === null ? (
            `sent by ${producerOf(n)}`
          ) : (
            <a href={to.settings('notifications', { find: n.subscriber })}>{`subscriber ${n.subscriber}`}</a>
          )}
        </Fact>
        <Fact name="for">{n.conversation === null ? `any conversation of ${log}` : `${log}#${n.conversation}`}</Fact>
        {n.takenBy !== null && n.takenBy !== n.conversation && <Fact name="taken by">{`${log}#${n.takenBy}`}</Fact>}
        {n.expiresAt !== null && n.state !== 'closed' && <Fact name="expires">{exact(n.expiresAt)}</Fact>}
        {n.instruction !== null && <Fact name="instruction">{visible(n.instruction)}</Fact>}
        {n.requeues !== null && <Fact name="queued again from">{n.requeues}</Fact>}
      </dl>
      <h4>Receipts</h4>
      <ol className="steps">
        {steps.map((step) => (
          <li key={step.seq}>
            <span className="step-what">{step.what}</span>
            <time dateTime={new Date(step.at).toISOString()} title={day(step.at)}>
              {exactTime(step.at)}
            </time>
            {step.at !== queuedAt && <span className="step-after">{`+${span(step.at - queuedAt)}`}</span>}
            {step.detail !== null && <span className="step-detail words">{visible(localTimes(detailSays(step, calls)))}</span>}
          </li>
        ))}
      </ol>
      <h4>Plan</h4>
      <p className="plan words">{planSays(item)}</p>
      {now.flatMap(({ conversation, decision }) =>
        // The verdict above already says that the next carrier would take the notification.
        decision.kind === 'take'
          ? []
          : [
              <p className="plan words" key={conversation}>
                {`The next carrier of #${conversation} ${NEXT_CARRIER[decision.kind]}. ${decision.step}: ${visible(localTimes(decision.reason))}`}
              </p>,
            ],
      )}
      {ended !== null && (
        <p className="plan words">
          {visible(
            isPlanStep(ended.by)
              ? `${ended.outcome}: ${sayReason(ended)}`
              : `${ended.outcome} by ${byWhom(ended.by)}: ${sayReason(ended)}`,
          )}
        </p>
      )}
      <h4>
        What was sent
        {last !== undefined && <Copy text={textOf(last)} what="what was sent" />}
      </h4>
      {sent.length === 0 && (
        <p className="muted">
          {n.state === 'closed' ? 'Nothing was sent.' : 'Nothing was sent yet: no carrier has taken this notification.'}
        </p>
      )}
      {sent.map((each) => (
        <figure className="read" key={each.seq}>
          <figcaption>
            {`${each.point === 'forced' ? `in place of a call${each.on === null ? '' : ` of ${calls.get(each.on) ?? each.on}`}` : `${each.point ?? each.record}${each.on === null ? '' : ` of ${calls.get(each.on) ?? each.on}`}`} · ${exactTime(each.at)}${each.repeated ? ' · repeated' : ''}${each.format === null ? '' : ` · ${each.format} view`}`}
          </figcaption>
          <pre className="sent" tabIndex={0} aria-label="what was sent">
            {visible(textOf(each))}
          </pre>
        </figure>
      ))}
      {n.data !== null && (
        <details>
          <summary>data</summary>
          <pre className="sent" tabIndex={0} aria-label="data">
            {JSON.stringify(n.data, null, 2)}
          </pre>
        </details>
      )}
      <p className="ids">
        <code>{n.id}</code> <Copy text={n.id} what="the id" />
      </p>
      <Deeds item={item} log={log} again={again} />
    </section>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: React.ReactNode }): ReactElement => (
  <div>
    <dt>{name}</dt>
    <dd className="words">{children}</dd>
  </div>
);

/** Returns the sent text. For an answer of get_notifications, the log has only the text of each item. */
const textOf = ({ text, item }: StoryItem['sent'][number]): string => (text === '' ? item : text);

/** Returns the details of a step, with the name of the tool instead of the id of its call. */
function detailSays({ detail, call }: StoryItem['steps'][number], calls: ReadonlyMap<string, string>): string {
  const tool = call === null ? undefined : calls.get(call);
  return tool === undefined ? (detail ?? '') : `in the result of ${named(tool)}`;
}

const PASSED = 'no filter, mute, expiry, newer state or budget closed this notification';

/** Says what the plan has done with a notification so far, and how many notifications became this one. */
function planSays({ notification: n, sent }: StoryItem): string {
  const counted = n.count > 1 ? `; ${n.count} occurrences in one notification` : '';
  if (n.state === 'open') return `not sent yet${counted}`;
  if (n.state === 'offered') return `${PASSED}: sent, but not confirmed yet${counted}`;
  if (n.outcome === 'delivered') return `${PASSED}: sent${sent.some(({ repeated }) => repeated) ? ' again' : ''}${counted}`;
  return `ended as ${n.outcome ?? 'closed'}${counted}`;
}

/** Buttons for actions that the verdict does not already offer. */
function Deeds({
  item: { notification: n, verdict },
  log,
  again,
}: {
  readonly item: StoryItem;
  readonly log: string;
  readonly again: () => void;
}): ReactElement | null {
  const [said, setSaid] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  // The button is not disabled during the request, because a disabled button loses the focus.
  const run = (work: () => Promise<string>): void => {
    if (busy) return;
    setBusy(true);
    work()
      .then(
        (text) => setSaid(text),
        (error: unknown) => setSaid(messageOf(error)),
      )
      .finally(() => {
        setBusy(false);
        again();
      });
  };
  const cures = curesOf(verdict, { log, id: n.id as NotificationId });
  const isCure = (kind: string): boolean => cures.some((cure) => cure.kind === kind && 'id' in cure && cure.id === n.id);
  const leads = useOwnAgent() === null;
  const mayWithdraw = leads && n.state !== 'closed' && !isCure('withdraw');
  const mayRequeue = leads && n.state === 'closed' && n.outcome !== 'folded' && !isCure('requeue');
  return (
    <div className="deeds">
      {mayWithdraw && (
        <button
          type="button"
          aria-busy={busy}
          onClick={() => run(async () => WITHDRAWN[(await client.withdraw(n.id, { log, reason: 'by hand' })).result])}
        >
          Withdraw
        </button>
      )}
      {mayRequeue && (
        <button
          type="button"
          aria-busy={busy}
          onClick={() => run(async () => queuedAgain((await client.requeue(n.id, { log })).id))}
        >
          Queue again
        </button>
      )}
      <p role="status" className="words">
        {busy ? 'pending …' : said}
      </p>
    </div>
  );
}
