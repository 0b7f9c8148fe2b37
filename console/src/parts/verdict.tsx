/** Shows a verdict in words, and the actions that a person can take. */
import { useState, type ReactElement } from 'react';
import { curesOf, sayVerdict, type Cure } from '../../../src/wire/client/index.ts';
import type { NotificationId } from '../../../src/core/notification.ts';
import { to, useRoute } from '../route.ts';
import { useCell } from '../state/cell.ts';
import { timeWords, useNow } from '../state/clock.ts';
import { messageOf } from '../state/loaded.ts';
import { client } from '../state/server.ts';
import { useOwnAgent } from '../state/rights.ts';
import { session } from '../state/session.ts';
import { mayMute } from '../state/mutes.ts';
import { settingCommand } from '../state/cures.ts';
import { visible } from '../state/text.ts';
import type { StoryItem } from '../types.ts';
import { Command } from './copy.tsx';
import { effectsSay } from '../words.ts';
import { MuteButton } from './mutes.tsx';

/** The style of a verdict: waiting, stopped, delivered, or otherwise ended. */
const TONES: Readonly<Record<StoryItem['verdict']['kind'], 'waits' | 'stopped' | 'fine' | 'over'>> = {
  never_carried: 'stopped',
  away: 'stopped',
  other_purpose: 'stopped',
  paused: 'stopped',
  muted: 'stopped',
  filtered: 'stopped',
  gate: 'stopped',
  behind_gate: 'stopped',
  budget: 'waits',
  moment: 'waits',
  due: 'waits',
  offered: 'waits',
  delivered: 'fine',
  summarized: 'fine',
  passed_on: 'fine',
  superseded: 'over',
  expired: 'over',
  withdrawn: 'over',
  known: 'over',
  dropped: 'over',
  left_out: 'over',
  folded: 'over',
};

/** The actions that the token of an agent does not allow. */
const LEADS: ReadonlySet<Cure['kind']> = new Set(['unmute', 'resume', 'requeue', 'withdraw', 'setting']);

export function VerdictBox({
  item: { verdict, notification: n },
  log,
  again,
}: {
  readonly item: StoryItem;
  readonly log: string;
  readonly again: () => void;
}): ReactElement {
  const now = useNow();
  const route = useRoute();
  const [busy, setBusy] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const says = sayVerdict(verdict, timeWords(now));
  // The button is not disabled during the request, because a disabled button loses the focus.
  const run = (work: () => Promise<string>): void => {
    if (busy) return;
    setBusy(true);
    work()
      .then(setSaid, (error: unknown) => setSaid(messageOf(error)))
      .finally(() => {
        setBusy(false);
        again();
      });
  };
  const who = useCell(session);
  const project = log.slice(0, log.indexOf('/'));
  const elsewhere = who.kind === 'in' && who.reply.project !== project;
  const own = useOwnAgent();
  const cures = curesOf(verdict, { log, id: n.id as NotificationId }).filter(
    ({ kind }) =>
      // A connected agent needs no instructions for connecting.
      (kind !== 'connect' || verdict.kind !== 'due') && (own === null || !LEADS.has(kind)),
  );
  const setting = elsewhere ? cures.find((cure) => cure.kind === 'setting') : undefined;
  const file = verdict.kind === 'filtered' ? verdict.file : null;
  const command = setting && settingCommand(setting.key, verdict);
  return (
    <div className={`verdict verdict-${TONES[verdict.kind]}`} data-verdict={verdict.kind}>
      <p className="verdict-says words">{visible(says)}</p>
      <div className="cures">
        {cures
          .filter((cure) => cure !== setting)
          .map((cure) => (
            <CureButton
              key={`${cure.kind} ${'id' in cure ? cure.id : ''}`}
              cure={cure}
              own={n.id}
              log={log}
              route={route.kind}
              busy={busy}
              run={run}
            />
          ))}
        {verdict.kind !== 'muted' && mayMute(n) && <MuteButton log={log} kind={n.kind} />}
      </div>
      {'holds' in verdict && verdict.holds && cures.some(({ kind }) => kind === 'requeue') && (
        <p className="words muted">
          {`If you queue this notification again now, ${verdict.kind === 'muted' ? 'the mute' : 'the setting'} filters it again.`}
        </p>
      )}
      {setting !== undefined && (
        <div className="cure-elsewhere">
          <p className="words">
            {`This setting belongs to the project ${project}, but the page Settings changes another project. `}
            {file === null
              ? `Run this command in the folder of ${project}:`
              : command === undefined
                ? `The setting comes from ${file}. Change its value where you start the server.`
                : `The setting is in ${file}. Run this command in the project’s folder:`}
          </p>
          {command !== undefined && <Command text={command} />}
        </div>
      )}
      <p className="cure-said words muted" role="status">
        {busy ? 'pending …' : said}
      </p>
    </div>
  );
}

function CureButton({
  cure,
  own,
  log,
  route,
  busy,
  run,
}: {
  readonly cure: Cure;
  readonly own: string;
  readonly log: string;
  readonly route: string;
  readonly busy: boolean;
  readonly run: (work: () => Promise<string>) => void;
}): ReactElement {
  const button = (says: string, work: () => Promise<string>): ReactElement => (
    <button type="button" className="small" aria-busy={busy} data-cure={cure.kind} onClick={() => run(work)}>
      {says}
    </button>
  );
  const link = (says: string, href: string): ReactElement => (
    <a className="button small" data-cure={cure.kind} href={href}>
      {says}
    </a>
  );
  switch (cure.kind) {
    case 'unmute':
      return button('Lift the mute', async () => {
        await client.unmute(cure.log, cure.pattern);
        return `${cure.pattern} is no longer muted for ${cure.log}.`;
      });
    case 'resume':
      return button('Resume the agent', async () => {
        const { effects } = await client.resume(cure.log);
        return effects.length === 0 ? `No pause of ${cure.log} is active.` : effectsSay('Resume', effects);
      });
    case 'requeue':
      return button('Queue again', async () => queuedAgain((await client.requeue(cure.id, { log: cure.log })).id));
    case 'mark_read':
      return button('Mark read', async () => {
        await client.read(cure.id, { log: cure.log });
        return 'The notification is marked as read, and no longer keeps the gate up.';
      });
    case 'withdraw':
      return button(cure.id === own ? 'Withdraw' : 'Withdraw the interrupt', async () => {
        const { result } = await client.withdraw(cure.id, { log: cure.log, reason: 'by hand' });
        return WITHDRAWN[result];
      });
    case 'setting':
      return link('Open the setting', to.settings('advanced', { find: cure.key }));
    case 'show':
      return link(
        'Show that notification',
        route === 'conversation' ? to.conversation(cure.log, hereOf(), cure.id) : to.conversation(cure.log, 'main', cure.id),
      );
    case 'connect':
      return link('How to connect the agent', to.agents({ connect: log }));
    default:
      return cure satisfies never;
  }
}

/** Returns the conversation that the page shows. */
const hereOf = (): string => decodeURIComponent(/^#\/agents\/[^/]+\/[^/]+\/([^?]+)/u.exec(window.location.hash)?.[1] ?? 'main');

export const queuedAgain = (id: string): string => `The notification is queued again, with the id ${id}.`;

export const WITHDRAWN = {
  withdrawn: 'The notification is withdrawn, and was never sent.',
  maybe_seen: 'The notification is withdrawn, but it was offered before: the model may have seen it.',
  gate_lowered: 'The notification was already delivered, but no longer keeps the gate up.',
  too_late: 'The withdrawal is too late: the notification was already delivered.',
  folded: 'The notification is not withdrawn, because another notification counts it.',
  unknown: 'The notification is no longer in the log.',
} as const;
