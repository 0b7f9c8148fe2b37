/** The subscribers of a project, and their switches. */
import { useEffect, useState, type ReactElement } from 'react';
import { Command } from '../../parts/copy.tsx';
import { Empty, Problem, Skeleton } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Muted } from '../../parts/mutes.tsx';
import { Tester } from '../../parts/tester.tsx';
import { change, to } from '../../route.ts';
import { listen } from '../../state/live.ts';
import { messageOf, useLoaded } from '../../state/loaded.ts';
import { client } from '../../state/server.ts';
import { soon } from '../../state/soon.ts';
import type { SubscriberItem } from '../../types.ts';

export function Notifications({ project, find }: { readonly project: string; readonly find: string }): ReactElement {
  const loaded = useLoaded(project, (signal) => client.subscribers({ project, signal }));
  const { again, change: tell, value } = loaded;
  useEffect(() => {
    // Another person or an edited file may have changed the subscribers.
    const asking = soon(async () => again(), 300);
    const end = listen((records) => {
      if (records.some(({ body }) => body.type.startsWith('subscriber_'))) asking.ask();
    });
    return () => {
      end();
      asking.end();
    };
  }, [again]);
  const shown =
    value?.subscribers.filter((each) =>
      `${each.id} ${each.name} ${each.description} ${each.event_types.join(' ')}`.toLowerCase().includes(find.toLowerCase()),
    ) ?? [];
  const changed = (item: SubscriberItem): void =>
    tell((before) => ({ ...before, subscribers: before.subscribers.map((each) => (each.id === item.id ? item : each)) }));
  return (
    <section className="subscribers" aria-label="Notification subscribers">
      <header className="page-head">
        <h2>
          <Icon name="bell" /> Notification subscribers
        </h2>
        <input
          type="search"
          placeholder="Find"
          aria-label="Find a subscriber"
          value={find}
          onChange={(event) =>
            change(to.settings('notifications', { project, ...(event.target.value === '' ? {} : { find: event.target.value }) }))
          }
        />
      </header>
      <Muted of={{ project }} named />
      {loaded.problem !== null && <Problem text={loaded.problem} again={again} />}
      {value === undefined && loaded.problem === null && <Skeleton rows={6} label="reading subscribers" />}
      {value?.problems.map((each) => (
        <div className="problem" key={`${each.file} ${each.message}`} role="alert">
          <span className="words">{`${each.file}: ${each.message}`}</span>
        </div>
      ))}
      {value !== undefined && value.subscribers.length === 0 && (
        <Empty title="The project has no subscribers">
          <p>Put a subscriber file into this folder of the project. The file takes effect with the next event.</p>
          <Command text="mkdir -p .earpiece/subscribers" />
        </Empty>
      )}
      {value !== undefined && value.subscribers.length > 0 && shown.length === 0 && (
        <Empty title={`No subscriber contains “${find}”`}>
          <button type="button" onClick={() => change(to.settings('notifications', { project }))}>
            Clear the filter
          </button>
        </Empty>
      )}
      <ul className="rows">
        {shown.map((each) => (
          <li key={each.id}>
            <Row item={each} project={project} onChanged={changed} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const EVENTS_SHOWN = 3;

function Row({
  item,
  project,
  onChanged,
}: {
  readonly item: SubscriberItem;
  readonly project: string;
  readonly onChanged: (item: SubscriberItem) => void;
}): ReactElement {
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<{ readonly text: string; readonly bad: boolean } | null>(null);
  const [testing, setTesting] = useState(false);
  const [all, setAll] = useState(false);
  const shown = item.event_types.slice(0, all ? undefined : EVENTS_SHOWN);
  const more = item.event_types.length - EVENTS_SHOWN;
  const failed = (error: unknown): void => setSaid({ text: messageOf(error), bad: true });

  // The button is not disabled during the request, because a disabled button loses the focus.
  const toggle = (): void => {
    if (busy) return;
    setBusy(true);
    client
      .toggleSubscriber(item.id, !item.enabled, { project })
      .then((changed) => {
        onChanged(changed);
        setSaid({ text: `${item.name} is ${changed.enabled ? 'on' : 'off'} from the next event on.`, bad: false });
      }, failed)
      .finally(() => setBusy(false));
  };
  return (
    <div className={`row subscriber ${item.enabled ? '' : 'off'}`} data-row="" tabIndex={-1} data-subscriber={item.id}>
      <div className="subscriber-name">
        <b className="words">{item.name}</b> <span className={`badge priority-${item.priority}`}>{item.priority}</span>{' '}
        <span className="muted words">{item.version}</span>{' '}
        {item.from.folder !== 'shipped' && (
          <span className="badge words" title={item.from.file}>
            {item.from.folder}
          </span>
        )}
        <p className="words">{item.description}</p>
        <p className="events">
          {shown.map((type) => (
            <code key={type}>{type}</code>
          ))}
          {more > 0 && (
            <button
              type="button"
              className="quiet small"
              aria-expanded={all}
              aria-label={all ? `fewer events of ${item.name}` : `+${more} more events of ${item.name}`}
              onClick={() => setAll(!all)}
            >
              {all ? 'fewer' : `+${more} more`}
            </button>
          )}
        </p>
      </div>
      <span className="spoke muted">
        {item.spoke_last_7_days === 0 ? 'silent for 7 days' : `${item.spoke_last_7_days}× in 7 days`}
      </span>
      <div className="subscriber-deeds">
        <button type="button" className="small" onClick={() => setTesting(true)} aria-label={`Test ${item.name}`}>
          Test
        </button>
        <button
          type="button"
          role="switch"
          className="switch"
          aria-checked={item.enabled}
          aria-label={item.name}
          aria-describedby={item.locked === null ? undefined : `lock-${item.id}`}
          disabled={item.locked !== null}
          aria-busy={busy}
          onClick={toggle}
        >
          <span aria-hidden="true" />
        </button>
      </div>
      {item.locked !== null && (
        <p className="locked" id={`lock-${item.id}`}>
          <Icon name="lock" /> <span className="words">{item.locked}</span>
        </p>
      )}
      {testing && <Tester item={item} project={project} onClose={() => setTesting(false)} />}
      <p className={`row-said words ${said?.bad ? 'bad' : ''}`} role="status">
        {busy ? 'pending …' : said?.text}
      </p>
    </div>
  );
}
