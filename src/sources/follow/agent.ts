/**
 * Follows another agent until its turn ends (`idle`), an interrupt blocks it (`blocked`), or its session ends (`done`). The
 * follower ends at the same time. The agent's host reports the ends of turns and sessions. If a session's process was killed,
 * this follower reports the end of the session.
 */
import { splitLog, type LogKey } from '../../core/address.ts';
import type { Inbox } from '../../inbox/index.ts';
import { askedAbout, became, forget, isAskedAbout } from '../../talk/index.ts';
import type { Follower, Look } from './follower.ts';
import type { Followed, Group, What } from './list.ts';

const EVERY_MS = 2_000;

type AgentWhat = Extract<What, { kind: 'agent' }>;

export function agentFollower({ log: named, until }: AgentWhat, { tos }: Group, inbox: Inbox): Follower {
  const log = named as LogKey;
  // Followers of an agent share a group only if they have the same address.
  const to = tos[0] ?? '';
  const isThere = async (): Promise<boolean> => (await inbox.active({ log })).length > 0;
  if (until === 'blocked')
    return { look: async () => ((await isThere()) ? lookAtGate(log, inbox) : over(told(log, 'has ended'))) };
  return {
    look: async (state) => {
      const asked = { by: to, state: until, at: inbox.store.now() };
      if (state === undefined) await askedAbout(inbox, log, asked);
      if (!(await isThere())) await became(inbox, log, 'done');
      return (await isAskedAbout(inbox, log, asked)) ? look('it works') : over(look(`it became ${until}`));
    },
  };
}

/** Removes the request to report the end of an agent's turn or session, because no follower needs the report any more. */
export async function forgetAgent(
  inbox: { readonly store: Pick<Inbox['store'], 'setting' | 'swapSetting'> },
  { log, until }: AgentWhat,
  { to }: Followed,
): Promise<void> {
  if (until !== 'blocked') await forget(inbox, log as LogKey, { by: to, state: until });
}

async function lookAtGate(log: LogKey, inbox: Inbox): Promise<Look> {
  const [gate] = await inbox.gates(log);
  if (gate === undefined) return look('nothing blocks it');
  return over(told(log, `is blocked: ${gate.notification.message.slice(0, 200).toWellFormed()}`, gate.id));
}

const look = (summary: string): Look => ({ standing: [], news: [], state: 'asked', summary, againMs: EVERY_MS });
const over = (last: Look): Look => ({ ...last, over: last.summary });

function told(log: LogKey, what: string, id = what): Look {
  const message = `${splitLog(log).agent} ${what}`;
  return { ...look(what), news: [{ id, type: 'agent.blocked', severity: 'info', message, data: { agent: log } }] };
}
