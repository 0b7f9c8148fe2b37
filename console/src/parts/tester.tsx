/** Shows what a subscriber would say, and sends that to one agent only when a person has chosen one. */
import { useState, type ReactElement } from 'react';
import { sayVerdict, willRide } from '../../../src/wire/client/index.ts';
import { useAgents } from '../state/agents.ts';
import { serverNow, timeWords } from '../state/clock.ts';
import { messageOf, useLoaded } from '../state/loaded.ts';
import { client } from '../state/server.ts';
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
        ({ to: sentTo, message, verdict }) =>
          setSaid({
            text:
              verdict === null || willRide(verdict)
                ? `${sentTo}: ${message}`
                : `${sentTo}: sent as a test. ${sayVerdict(verdict, timeWords(serverNow()))}`,
            bad: false,
          }),
        (error: unknown) => setSaid({ text: messageOf(error), bad: true }),
      )
      .finally(() => setBusy(false));
  };
  const { value } = preview;
  return (
    <Dialog label={`Test ${item.name}`} className="test-dialog" onClose={onClose}>
      <h2 className="words">{`Test ${item.name}`}</h2>
      {preview.problem !== null && <Problem text={preview.problem} again={preview.again} />}
      {value === undefined && preview.problem === null && <Skeleton rows={2} label="asking what it would say" />}
      {value !== undefined && (
        <>
          <p className="words">
            {'For a sample '}
            <code>{value.event_type}</code>
            {`, this would be sent at level ${value.level}:`}
          </p>
          <pre className="sent" tabIndex={0} aria-label="what would be sent">
            {value.preview}
          </pre>
          {value.problem !== null && (
            <p className="bad words">{`Its template failed, so the message stands alone: ${value.problem}`}</p>
          )}
          <p className="muted">
            {said === null && 'Nothing was sent. '}
            If you send it, the notification has the kind <code>{`test.${value.kind}`}</code>
            {'. It says that it is a test and that nothing happened. Its level is info, so it neither stops nor wakes the agent.'}
          </p>
        </>
      )}
      <div className="test-send">
        <select aria-label="Send the test to" value={to} onChange={(event) => setTo(event.target.value)}>
          <option value="">choose an agent …</option>
          {agents.map((agent) => (
            <option key={agent.log} value={agent.log}>
              {`${agent.log}${agent.active ? '' : ' (not active)'}`}
            </option>
          ))}
        </select>
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
