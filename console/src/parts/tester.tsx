/** Shows a subscriber's text for a sample event, and sends this text only to an agent that a person has chosen. */
import { useEffect, useState, type ReactElement } from 'react';
import { sayForetold, sayVerdict } from '../../../src/wire/client/index.ts';
import { useAgents } from '../state/agents.ts';
import { serverNow, timeWords, useNow } from '../state/clock.ts';
import { listen } from '../state/live.ts';
import { messageOf, useLoaded } from '../state/loaded.ts';
import { client } from '../state/server.ts';
import { soon } from '../state/soon.ts';
import type { SubscriberItem } from '../types.ts';
import { Dialog } from './dialog.tsx';
import { Problem, Skeleton } from './empty.tsx';

export function Tester({
  item,
  project,
  onClose,
}: {
  readonly item: SubscriberItem;
  readonly project: string;
  readonly onClose: () => void;
}): ReactElement {
  const preview = useLoaded(`test ${project} ${item.id}`, (signal) => client.testSubscriber(item.id, { project, signal }));
  const agents = useAgents().items.filter((agent) => agent.project === project);
  const [to, setTo] = useState('');
  const [said, setSaid] = useState<{ readonly text: string; readonly bad: boolean } | null>(null);
  const [busy, setBusy] = useState(false);
  const send = (): void => {
    if (busy || to === '') return;
    setBusy(true);
    client
      .testSubscriber(item.id, { project, to })
      .then(
        ({ to: sentTo, message, verdict }) => {
          const says =
            verdict === null
              ? `${sentTo}: ${message}`
              : `The test was sent to ${sentTo}. ${sayVerdict(verdict, timeWords(serverNow()))}`;
          setSaid({ text: says, bad: false });
        },
        (error: unknown) => setSaid({ text: messageOf(error), bad: true }),
      )
      .finally(() => setBusy(false));
  };
  const { value } = preview;
  return (
    <Dialog label={`Test ${item.name}`} className="test-dialog" onClose={onClose}>
      <h2 className="words">{`Test ${item.name}`}</h2>
      {preview.problem !== null && <Problem text={preview.problem} again={preview.again} />}
      {value === undefined && preview.problem === null && <Skeleton rows={2} label="loading the text" />}
      {value !== undefined && (
        <>
          <p className="words">
            {'The text for a sample '}
            <code>{value.event_type}</code>
            {`, at level ${value.level}:`}
          </p>
          <pre className="sent" tabIndex={0} aria-label="what would be sent">
            {value.preview}
          </pre>
          {value.problem !== null && (
            <p className="bad words">{`The template of this subscriber failed, so the text is only the message: ${value.problem}`}</p>
          )}
          {!value.enabled && (
            <p className="bad">{`This subscriber is off in project ${project}: no event causes a notification.`}</p>
          )}
        </>
      )}
      <label className="test-for">
        <span>What would a real event do for this agent now?</span>
        <select
          value={to}
          onChange={(event) => {
            setTo(event.target.value);
            setSaid(null);
          }}
        >
          <option value="">choose an agent …</option>
          {agents.map((agent) => (
            <option key={agent.log} value={agent.log}>
              {`${agent.log}${agent.active ? '' : ' (not active)'}`}
            </option>
          ))}
        </select>
      </label>
      {to !== '' && <Outlook key={to} item={item} project={project} log={to} />}
      {value !== undefined && (
        <p className="muted">
          {said === null && 'Nothing was sent. '}
          A test notification has the kind <code>{`test.${value.kind}`}</code>
          {
            '. The text says that this is a test and that nothing happened. The level is info, so the test does not interrupt the agent. Mutes and filters of the real kind do not apply to the test.'
          }
        </p>
      )}
      <div className="test-send">
        <button type="button" disabled={to === '' || value === undefined} aria-busy={busy} onClick={send}>
          Send as a test
        </button>
        <button type="button" className="quiet" onClick={onClose}>
          Close
        </button>
      </div>
      <p className={`words ${said?.bad ? 'bad' : ''}`} role="status">
        {busy ? 'pending …' : said?.text}
      </p>
    </Dialog>
  );
}

/** Shows the server's verdict on a real notification for this agent, and asks again when the agent's log changes. */
function Outlook({
  item,
  project,
  log,
}: {
  readonly item: SubscriberItem;
  readonly project: string;
  readonly log: string;
}): ReactElement {
  const now = useNow();
  const { value, problem, again } = useLoaded(`outlook ${project} ${item.id} ${log}`, (signal) =>
    client.testSubscriber(item.id, { project, for: log, signal }),
  );
  useEffect(() => {
    const asking = soon(async () => again(), AFTER_RECORDS_MS);
    const end = listen((records) => {
      if (records.some((record) => record.log === log)) asking.ask();
    });
    return () => {
      asking.end();
      end();
    };
  }, [log, again]);
  if (problem !== null) return <Problem text={problem} again={again} />;
  if (value === undefined || value.real === null) return <Skeleton rows={1} label="loading the effect" />;
  const says = sayForetold(value.real, timeWords(now));
  return (
    <p className="words test-outlook" data-verdict={value.enabled ? value.real.kind : 'off'}>
      {value.enabled ? says : `Nothing, because this subscriber is off. With the subscriber on: ${says}`}
    </p>
  );
}

const AFTER_RECORDS_MS = 300;
