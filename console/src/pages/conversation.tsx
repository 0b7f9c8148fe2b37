/** Chat and timeline: messages, calls, notifications, waiting notifications, and the box for a person's next message. */
import { Fragment, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import type { Stored } from '../../../src/core/records.ts';
import { useCameFor, useCameTo } from '../parts/came-for.ts';
import { Composer } from '../parts/composer.tsx';
import { Command } from '../parts/copy.tsx';
import { Empty, Problem, Skeleton } from '../parts/empty.tsx';
import { TimelineEntry } from '../parts/entry.tsx';
import { Finding } from '../parts/finding.tsx';
import { useFocusStays } from '../parts/focus.ts';
import { ForkDialog, useForks } from '../parts/forks.tsx';
import { Icon } from '../parts/icons.tsx';
import { useMoving } from '../parts/moving.ts';
import { Muted } from '../parts/mutes.tsx';
import { Ended, Pending, Ride } from '../parts/notification.tsx';
import { useReading } from '../parts/reading.ts';
import { Ago } from '../parts/time.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { change, go, to, type Find } from '../route.ts';
import { useAgents } from '../state/agents.ts';
import { heirOf } from '../state/heir.ts';
import { useCell } from '../state/cell.ts';
import { day, lasting, serverNow, useNow, useNowAt } from '../state/clock.ts';
import { useTalk } from '../state/conversation.ts';
import { nextExpiry, pausedUntil, waitingOf, type Note } from '../state/notes.ts';
import { arrived, doOnce, said } from '../state/said.ts';
import { useSummary } from '../state/summary.ts';
import { word } from '../state/text.ts';
import { callsIn, contactIn, doingIn, runningTurnIn, timelineOf } from '../state/timeline.ts';
import { useWakes } from '../state/wakes.ts';
import type { AgentHolds } from '../state/waits.ts';
import type { AgentSummary, ConversationSummary } from '../types.ts';
import { doingSays } from '../words.ts';
import { Head } from './conversation-head.tsx';
import { WhyPanel } from './why.tsx';

type Props = {
  readonly log: string;
  readonly conversation: string;
  readonly why: string | null;
  readonly find: Find | null;
  readonly at: number | null;
};

export function ConversationPage({ log, conversation, why, find, at }: Props): ReactElement {
  const address = `${log}#${conversation}`;
  const talk = useTalk(log, conversation);
  const agents = useAgents();
  const listed = agents.items.find((each) => each.log === log);
  const own = useSummary(log, conversation, agents);
  const agent = useMemo(() => withDoing(listed, own, talk.records), [listed, own, talk.records]);
  const calls = useMemo(() => callsIn(talk.records), [talk.records]);
  const summary = useMemo(() => withContact(own, conversation, talk.records), [own, conversation, talk.records]);
  const heir = useMemo(
    () => heirOf([...(own ? [own] : []), ...(listed?.conversations ?? [])], conversation),
    [own, listed, conversation],
  );
  const [everything, setEverything] = useState(false);
  const { records, known } = talk;
  const entries = useMemo(() => timelineOf(records, known.notes, { everything }), [records, known, everything]);
  const waiting = waitingOf(known.notes, useNowAt(nextExpiry(known.notes, serverNow())));
  const until = pausedUntil(known.notes);
  const paused = useNowAt(until) < until;
  const here = useCell(said).filter((each) => each.address === address && !known.notes.has(each.id));
  useEffect(() => arrived((id) => known.notes.has(id)), [known]);

  const holder = agent?.held?.conversation;
  const holds = holder !== undefined && (holder === null || holder === conversation);
  const page = useRef<HTMLDivElement>(null);
  const scroll = useRef<HTMLDivElement>(null);
  const reading = useReading(scroll, entries, talk);
  const { shown, newer, older, toOlder, toNewest } = reading;
  useMoving(page);
  useFocusStays(page, 'note');
  // After sending, the page scrolls to the new entry.
  const sent = useRef(here.length);
  useEffect(() => {
    if (here.length > sent.current) toNewest();
    sent.current = here.length;
  }, [here.length, toNewest]);
  useCameFor(page, talk.loading, at === null ? why : null, reading);
  const coming = useCameTo(page, talk, { at, why }, entries, reading);
  const forks = useForks(log, conversation);
  const ours = summary?.host === 'earpiece';
  const isActive = summary?.active === true;
  const running = useMemo(() => (isActive ? runningTurnIn(records) : null), [isActive, records]);
  // While `forking` is null, the dialog is closed.
  const [forking, setForking] = useState<{ readonly at: number | null } | null>(null);
  const [finding, setFinding] = useState(find !== null);
  // Another part of the console may open the search with words or a period.
  useEffect(() => {
    if (find !== null) setFinding(true);
  }, [find]);

  const onWhy = (id: string): void => {
    const opened = to.conversation(log, conversation, why === id ? null : id, { find });
    if (why === null) go(opened);
    else change(opened);
  };
  const onClose = (): void => change(to.conversation(log, conversation, null, { find, at }));

  return (
    <div className={`conversation ${why === null ? '' : 'with-why'}`} ref={page}>
      <section className="talk" aria-label={`Conversation ${address}`}>
        <Head
          agent={agent}
          summary={summary}
          log={log}
          conversation={conversation}
          paused={paused}
          everything={everything}
          setEverything={setEverything}
          forks={forks}
          ours={ours}
          onFork={() => setForking({ at: null })}
          finding={finding}
          onFind={() => setFinding(true)}
        />
        <Muted of={{ log }} />
        {finding && (
          <Finding
            {...{ log, conversation, find, at }}
            onClose={() => {
              setFinding(false);
              if (find !== null) change(to.conversation(log, conversation, why));
              document.querySelector<HTMLElement>('.find-words')?.focus();
            }}
          />
        )}
        <p className="coming" role="status">
          {coming && 'loading earlier entries …'}
        </p>
        <div
          className="timeline"
          ref={scroll}
          tabIndex={0}
          role="log"
          aria-label="timeline"
          aria-live="off"
          aria-busy={talk.loading}
        >
          {older && !talk.loading && (
            <button type="button" className="small earlier" aria-busy={talk.loadingEarlier} onClick={toOlder}>
              {talk.loadingEarlier ? 'reading …' : 'Show earlier entries'}
            </button>
          )}
          {talk.problem !== null && <Problem text={talk.problem} again={talk.again} />}
          {talk.loading && <Skeleton rows={6} label="reading the conversation" />}
          {!talk.loading &&
            !older &&
            talk.problem === null &&
            entries.length === 0 &&
            waiting.length === 0 &&
            here.length === 0 && (
              <Nothing
                address={heir === null ? address : `${log}#${heir}`}
                unknown={talk.unknown || (listed === undefined && !agents.loading && !agents.more)}
              />
            )}
          {shown.map((entry, n) => (
            <Fragment key={`${entry.seq} ${entry.kind}`}>
              <Day at={entry.at} before={shown[n - 1]?.at} />
              {entry.kind === 'ride' ? (
                <Ride entry={entry} why={why} onWhy={onWhy} />
              ) : entry.kind === 'ended' ? (
                <Ended entry={entry} why={why} onWhy={onWhy} />
              ) : (
                <TimelineEntry
                  entry={entry}
                  onFork={ours && (running === null || entry.seq < running) ? (from) => setForking({ at: from }) : undefined}
                />
              )}
            </Fragment>
          ))}
          {newer > 0 ? (
            <button type="button" className="newer" onClick={toNewest}>
              {`Show ${newer} newer entries${waiting.length === 0 ? '' : ` and ${waiting.length} waiting notifications`}`}
            </button>
          ) : (
            <>
              <Doing agent={agent} conversation={conversation} paused={paused} />
              <Waiting
                log={log}
                conversation={conversation}
                force={summary?.force ?? 'waits'}
                agent={blocks(agent, summary, paused, holds)}
                waiting={waiting}
                why={why}
                onWhy={onWhy}
              >
                {waiting.length === 0 && here.length === 0 && !talk.loading && (
                  <NothingOpen summary={own === null ? null : summary} />
                )}
                {here.map((each) => (
                  <Pending key={each.id} said={each} />
                ))}
              </Waiting>
            </>
          )}
        </div>
        <Wakes address={address} summary={summary} agent={agent} waiting={waiting} paused={paused} />
        {heir === null ? <Composer address={address} summary={summary} paused={paused} /> : <GoesOn log={log} heir={heir} />}
      </section>
      {forking !== null && (
        <ForkDialog {...{ log, conversation, ours }} at={forking.at} forks={forks} onClose={() => setForking(null)} />
      )}
      {why !== null && <WhyPanel id={why} log={log} calls={calls} onClose={onClose} />}
    </div>
  );
}

/** Returns the reason why the agent cannot read now; null if there is none. */
function blocks(
  agent: AgentSummary | undefined,
  summary: ConversationSummary | undefined,
  paused: boolean,
  held: boolean,
): AgentHolds {
  if (summary === undefined && agent?.lastContactAt === null) return 'unseen';
  if ((summary?.active ?? agent?.active) === false) return 'away';
  return paused ? 'paused' : held ? 'held' : null;
}

/** Links from an ended conversation to the conversation that continues it. */
const GoesOn = ({ log, heir }: { readonly log: string; readonly heir: string }): ReactElement => (
  <p className="composer words" role="note">
    {'This session has ended. '}
    <a href={to.conversation(log, heir)}>{`${log}#${heir}`}</a>
    {' continues the work: write to that conversation.'}
  </p>
);

/** Takes the state of an Earpiece agent from its records, which are newer and more exact than the list of agents. */
function withDoing(
  agent: AgentSummary | undefined,
  own: ConversationSummary | null | undefined,
  records: readonly Stored[],
): AgentSummary | undefined {
  if (agent === undefined || !agent.active) return agent;
  const doing = own?.host === 'earpiece' ? doingIn(records) : null;
  return doing === null ? agent : { ...agent, doing };
}

/** Adds the last contact and the last delivery from the records, because presence is written less often. */
function withContact(
  summary: ConversationSummary | null | undefined,
  conversation: string,
  records: readonly Stored[],
): ConversationSummary | undefined {
  if (summary === null || summary === undefined) return undefined;
  const { seenAt, toldAt } = contactIn(records, conversation);
  const carriedAt = Math.max(summary.carriedAt ?? 0, toldAt ?? 0);
  return { ...summary, seenAt: Math.max(summary.seenAt, seenAt ?? 0), carriedAt: carriedAt === 0 ? null : carriedAt };
}

/** Shows the date where a new day begins, and above the first line unless that line is from today. */
function Day({ at, before }: { readonly at: number; readonly before: number | undefined }): ReactElement | null {
  const said = day(at);
  return said === day(before ?? serverNow()) ? null : (
    <p className="day">
      <time dateTime={new Date(at).toISOString()}>{said}</time>
    </p>
  );
}

function Doing({
  agent,
  conversation,
  paused,
}: {
  readonly agent: AgentSummary | undefined;
  readonly conversation: string;
  readonly paused: boolean;
}): ReactElement | null {
  const now = useNow();
  if (agent === undefined || paused) return null;
  const { doing } = agent;
  if (doing.kind === 'nothing' || (doing.conversation !== null && doing.conversation !== conversation)) return null;
  return (
    <p className="doing" role="status">
      <span className="pulse" aria-hidden="true" />
      {doingSays(agent)}
      {doing.since !== null && <span aria-hidden="true">{` · ${lasting(now - doing.since)}`}</span>}
    </p>
  );
}

const NothingOpen = ({ summary }: { readonly summary: ConversationSummary | null | undefined }): ReactElement => (
  <p className="muted nothing-open">
    {'No notification is open. '}
    {summary === null ? (
      'This agent has not made contact yet.'
    ) : summary === undefined ? null : summary.carriedAt !== null ? (
      <>
        {'The last delivery was '}
        <Ago at={summary.carriedAt} />
        {'.'}
      </>
    ) : (
      <>
        {'The last contact was '}
        <Ago at={summary.seenAt} />
        {'.'}
      </>
    )}
  </p>
);

const Nothing = ({ address, unknown }: { readonly address: string; readonly unknown: boolean }): ReactElement => (
  <Empty title={unknown ? 'No agent with this name has made contact yet' : 'There are no messages yet'}>
    <p>Queued notifications wait here until the agent makes contact. To queue a notification from a terminal:</p>
    <Command text={`earpiece send --to ${word(address)} "the staging database is back"`} />
  </Empty>
);

/** Asks the person whether an idle agent may begin a turn, if a setting requires this question. */
function Wakes({
  address,
  summary,
  agent,
  waiting,
  paused,
}: {
  readonly address: string;
  readonly summary: ConversationSummary | undefined;
  readonly agent: AgentSummary | undefined;
  readonly waiting: readonly Note[];
  readonly paused: boolean;
}): ReactElement | null {
  const asks = useWakes();
  const [dismissing, setDismissing] = useState(false);
  /**
   * The notifications that the person has asked the agent to read. Until the agent begins to work, the page does not ask the
   * agent again.
   */
  const [discussed, setDiscussed] = useState<ReadonlySet<string>>(new Set());
  const idle = agent?.doing.kind === 'nothing' && summary?.active === true && summary.host === 'earpiece' && !paused;
  const about = idle ? waiting.filter((note) => asks(note.level) && note.action === null && note.person === null) : [];
  useEffect(() => {
    if (!idle) setDiscussed(new Set());
  }, [idle]);
  const [first] = about;
  if (first === undefined) return null;
  const asking = about.every(({ id }) => discussed.has(id));
  const discuss = async (): Promise<void> => {
    if (asking) return;
    setDiscussed(new Set(about.map(({ id }) => id)));
    const done = await doOnce(address, { kind: 'say', content: 'Please read the waiting notifications.' });
    if (done === undefined) setDiscussed(new Set());
  };
  // The requests are sent one after the other, so that the server's rate limit refuses none of a thousand requests.
  const dismiss = async (): Promise<void> => {
    setDismissing(true);
    for (const { id, log, message } of about) await doOnce(address, { kind: 'dismiss', id, log, about: message });
    setDismissing(false);
  };
  return (
    <div className="wake" role="group" aria-label="waiting for you">
      <p>
        <Icon name="bell" />
        <span className="words">
          {about.length === 1
            ? `${first.kind} waits, and the agent is idle.`
            : `${about.length} notifications wait, and the agent is idle.`}
        </span>
      </p>
      <button type="button" aria-busy={asking} onClick={() => void discuss()}>
        {asking ? 'asked …' : 'Discuss now'}
      </button>
      <button type="button" className="quiet" disabled={dismissing} onClick={() => void dismiss()}>
        {dismissing ? 'pending …' : 'Dismiss'}
      </button>
    </div>
  );
}
