import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Owner } from '../../core/records.ts';
import type { Context } from '../context.ts';
import { placeholder } from './identity.ts';
import { isSame } from './presence.ts';
import { merge } from './succession.ts';

/**
 * Binds a host process to the conversation that it shows now. The process's earlier conversations continue in this conversation:
 * the conversations with the process in their presence, the placeholder of the process, and the conversation of its former
 * binding.
 */
export async function bind(context: Context, host: Owner, to: { log: LogKey; conversation: ConversationId }): Promise<void> {
  const { store } = context;
  const before = await store.binding(host);
  await store.bind(host, to);
  const project = to.log.slice(0, to.log.indexOf('/'));
  const shown = (await store.presence({ project }))
    .filter((p) => isSame(p.process, host) && !p.shared)
    .map(({ log, conversation }) => ({ log, from: conversation }));
  const former = [
    ...shown,
    { log: to.log, from: placeholder(host) },
    ...(before === undefined ? [] : [{ log: before.log, from: before.conversation }]),
  ];
  const follows = new Set(former.map(({ from }) => from));
  const seen = new Set<string>();
  for (const { log, from } of former) {
    if (from === to.conversation || seen.has(`${log}#${from}`)) continue;
    seen.add(`${log}#${from}`);
    await merge(context, { log, from, to: to.conversation }, follows);
    const [known] = await store.presence({ log, conversation: from });
    if (known !== undefined && known.endedAt === undefined) await store.touch({ log, conversation: from, ended: true });
  }
}
